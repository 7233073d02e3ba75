#include "apps/cli/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/cli/sparkline.h"

namespace actorflow {
namespace {

constexpr std::size_t course_width = 40, distribution_width = 24;

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

std::string describe(const ImageSummary& image) {
  return fmt::format("image {}x{}x{}, {} bytes", image.height, image.width, image.channels,
                     image.png.size());
}

// Counts in parts of equal width between the smallest and the largest element. A bucket counts where its
// middle lies.
std::vector<double> distribution(const HistogramSummary& histogram) {
  std::vector<double> parts(distribution_width);
  const double width = histogram.max - histogram.min;
  for (std::size_t i = 0; i < histogram.buckets.size(); ++i) {
    const double begin = i == 0 ? histogram.min : std::max(histogram.limits[i - 1], histogram.min);
    const double end = std::min(histogram.limits[i], histogram.max);
    const double place = width > 0 ? ((begin + end) / 2 - histogram.min) / width : 0.5;
    if (histogram.buckets[i] > 0 && std::isfinite(place))
      parts[static_cast<std::size_t>(std::clamp(place, 0.0, 0.999) * distribution_width)] +=
          histogram.buckets[i];
  }
  return parts;
}

std::string describe(const HistogramSummary& histogram) {
  const double mean = histogram.count > 0 ? histogram.sum / histogram.count : 0;
  const double square = histogram.count > 0 ? histogram.sum_of_squares / histogram.count : 0;
  return fmt::format("{} elements, {:.4g} +- {:.4g}, {:.4g} to {:.4g}  {}", histogram.count, mean,
                     std::sqrt(std::max(square - mean * mean, 0.0)), histogram.min, histogram.max,
                     sparkline(distribution(histogram), distribution_width));
}

}  // namespace

std::string SummaryTable::describe_scalar(double last, const Course& course) {
  const bool any = course.min <= course.max;
  return fmt::format("{:<10.4g}  {:.4g} to {:.4g}  {}", last, any ? course.min : 0, any ? course.max : 0,
                     sparkline(course.values, course_width));
}

void SummaryTable::Course::add(double value) {
  constexpr std::size_t max_values = 4096;
  if (std::isfinite(value)) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  if (seen++ % stride == 0) values.push_back(value);
  if (values.size() < max_values) return;
  for (std::size_t i = 0; 2 * i < values.size(); ++i) values[i] = values[2 * i];
  values.resize(values.size() / 2);
  stride *= 2;
}

void SummaryTable::add(const Event& event) {
  if (const auto* graph = std::get_if<Event::GraphEvent>(&event.what))
    graph_nodes_ = count_tensorflow_nodes(graph->def);
  const auto* summaries = std::get_if<std::vector<Summary>>(&event.what);
  if (!summaries) return;
  for (const auto& summary : *summaries) {
    Row& row = rows_[summary.tag];
    ++row.points;
    row.last_step = event.step;
    row.last = summary;
    if (const auto* scalar = std::get_if<ScalarSummary>(&summary.value)) row.course.add(scalar->value);
  }
}

std::string SummaryTable::to_string(const std::string& part) const {
  std::size_t width = 3;
  for (const auto& entry : rows_) width = std::max(width, entry.first.size());
  std::string text = fmt::format("{:<{}}  {:>7}  {:>9}  last\n", "tag", width, "points", "step");
  for (const auto& [tag, row] : rows_) {
    if (tag.find(part) == std::string::npos) continue;
    const Overloaded describe_last{[&course = row.course](const ScalarSummary& scalar) {
                                     return describe_scalar(scalar.value, course);
                                   },
                                   [](const auto& other) { return describe(other); }};
    text += fmt::format("{:<{}}  {:>7}  {:>9}  {}\n", tag, width, row.points, row.last_step,
                        std::visit(describe_last, row.last.value));
  }
  if (graph_nodes_ > 0) text += fmt::format("graph of {} nodes\n", graph_nodes_);
  return text;
}

}  // namespace actorflow
