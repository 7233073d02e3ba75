#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/plots/charts.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr double cell = 46, left = 130;
constexpr std::size_t label_characters = 12, fit_into_a_cell = 6;

// From white to the blue of the first series.
std::string shade(double share) {
  const auto mixed = [share](int dark) {
    return static_cast<int>(std::lround(255 - share * (255 - dark)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0x00), mixed(0x72), mixed(0xb2));
}

void draw_row(Svg& svg, const std::vector<std::int64_t>& counts, double y) {
  const auto sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double share = sum == 0 ? 0 : static_cast<double>(counts[i]) / static_cast<double>(sum);
    const double x = left + cell * static_cast<double>(i);
    svg.rectangle({x + 1, y + 1, cell - 2, cell - 2}, counts[i] == 0 ? "#f7f7f7" : shade(share));
    if (counts[i] > 0)
      svg.text({x + cell / 2, y + cell / 2 + 4}, fmt::format("{}", counts[i]),
               {.size = 12, .anchor = Anchor::middle, .colour = share > 0.5 ? "#fff" : "#333"});
  }
}

bool too_wide_for_a_cell(const std::string& label) { return shortened(label, fit_into_a_cell) != label; }

}  // namespace

std::string to_svg(const ConfusionMatrix& matrix) {
  const double size = cell * static_cast<double>(matrix.classes.size());
  const bool upwards = std::ranges::any_of(matrix.classes, too_wide_for_a_cell);
  const double top = upwards ? 160 : 90;
  Svg svg(left + size + 30, top + size + 30, matrix.title);
  svg.text({20, 28}, matrix.title, {.size = 17, .bold = true});
  svg.text({left + size / 2, 60}, "predicted", {.anchor = Anchor::middle});
  svg.text({24, top + size / 2}, "true", {.anchor = Anchor::middle, .upwards = true});
  for (std::size_t i = 0; i < matrix.classes.size(); ++i) {
    const double middle = cell * (static_cast<double>(i) + 0.5);
    const std::string label = shortened(matrix.classes[i], label_characters);
    svg.text({left + middle + (upwards ? 4 : 0), top - 8}, label,
             {.size = 12, .anchor = upwards ? Anchor::start : Anchor::middle, .upwards = upwards});
    svg.text({left - 8, top + middle + 4}, label, {.size = 12, .anchor = Anchor::end});
    draw_row(svg, matrix.counts[i], top + cell * static_cast<double>(i));
  }
  return std::move(svg).finish();
}

ConfusionMatrix confusion_matrix(std::string title, std::vector<std::string> classes,
                                 const std::vector<std::int64_t>& labels,
                                 const std::vector<std::int64_t>& predicted) {
  if (labels.size() != predicted.size())
    throw invalid_argument(fmt::format("expected a prediction for each of {} labels, got {}",
                                       labels.size(), predicted.size()));
  const std::size_t count = classes.size();
  std::vector counts(count, std::vector<std::int64_t>(count));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = static_cast<std::size_t>(labels[i]),
               column = static_cast<std::size_t>(predicted[i]);
    if (row >= count || column >= count)
      throw invalid_argument(
          fmt::format("expected classes from 0 to {}, got the label {} and the "
                      "prediction {}",
                      count - 1, labels[i], predicted[i]));
    ++counts[row][column];
  }
  return {std::move(title), std::move(classes), std::move(counts)};
}

}  // namespace actorflow
