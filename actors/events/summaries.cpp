#include "actors/events/summaries.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/events/summary_image.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/histogram.h"

namespace actorflow {
namespace {

double to_double(const std::string& tag, const Tensor& tensor) {
  if (tensor.elements() == 1) switch (tensor.dtype()) {
      case DType::float32:
        return tensor.scalar<float>();
      case DType::float64:
        return tensor.scalar<double>();
      case DType::int32:
        return tensor.scalar<std::int32_t>();
      case DType::int64:
        return static_cast<double>(tensor.scalar<std::int64_t>());
      case DType::uint8:
        return tensor.scalar<std::uint8_t>();
      case DType::boolean:
        return tensor.scalar<bool>() ? 1 : 0;
      case DType::float16:
        return tensor.scalar<Float16>();
      case DType::bfloat16:
        return tensor.scalar<BFloat16>();
      case DType::int8:
        return tensor.scalar<std::int8_t>();
      case DType::int16:
        return tensor.scalar<std::int16_t>();
      default:
        break;
    }
  throw invalid_argument(
      fmt::format("summary '{}': expected one number, got {}", tag, tensor.describe()));
}

HistogramSummary to_histogram(const Tensor& statistics, const Tensor& counts) {
  const auto values = statistics.values<double>();
  const auto get = [&](HistogramStatistic which) { return values[static_cast<std::size_t>(which)]; };
  const auto limits = histogram_limits();
  const auto buckets = counts.values<std::int64_t>();
  return {get(HistogramStatistic::min),
          get(HistogramStatistic::max),
          get(HistogramStatistic::count),
          get(HistogramStatistic::sum),
          get(HistogramStatistic::sum_of_squares),
          {limits.begin(), limits.end()},
          {buckets.begin(), buckets.end()}};
}

// Fewer images travel where the number in the batch is known.
Output first_images(Output images, int count) {
  const Shape& shape = images.shape();
  if (shape[0] <= count || !shape.fully_known()) return images;
  return slice(images, {0, 0, 0, 0}, {count, -1, -1, -1});
}

}  // namespace

void Summaries::add(std::string tag, const std::vector<Output>& outputs, Reader read) {
  if (tag.empty()) throw invalid_argument("a summary needs a tag");
  for (const Entry& entry : entries_)
    if (entry.tag == tag)
      throw invalid_argument(
          fmt::format("two summaries have the tag '{}'; each needs one of its own", tag));
  entries_.push_back({std::move(tag), fetches_.size(), outputs.size(), std::move(read)});
  fetches_.insert(fetches_.end(), outputs.begin(), outputs.end());
}

void Summaries::scalar(std::string tag, Output value) {
  const TensorType& type = value.type();
  if (type.dtype == DType::string || !type.shape.compatible_with({}))
    throw invalid_argument(
        fmt::format("summary '{}': expected a scalar number, got {}; take its mean, or a histogram", tag,
                    type.to_string()));
  add(tag, {value}, [tag](std::span<const Tensor> tensors, std::vector<Summary>& summaries) {
    summaries.push_back({tag, ScalarSummary{to_double(tag, tensors[0])}});
  });
}

void Summaries::histogram(std::string tag, Output tensor) {
  Graph& graph = *tensor.graph;
  const Histogram h = graph.on(tensor.node().device, [&] { return actorflow::histogram(tensor); });
  add(tag, {h.statistics, h.counts},
      [tag](std::span<const Tensor> tensors, std::vector<Summary>& summaries) {
        summaries.push_back({tag, to_histogram(tensors[0], tensors[1])});
        const double not_finite =
            tensors[0].values<double>()[static_cast<std::size_t>(HistogramStatistic::not_finite)];
        if (not_finite > 0) summaries.push_back({tag + "/not_finite", ScalarSummary{not_finite}});
      });
}

void Summaries::image(std::string tag, Output images, int max_images) {
  const TensorType& type = images.type();
  const bool known = type.dtype == DType::float32 || type.dtype == DType::uint8;
  if (!known || type.shape.rank() != 4 || max_images < 1)
    throw invalid_argument(
        fmt::format("summary '{}': expected float32 or uint8 images [batch,height,width,channels] and 1 "
                    "or more of them, got {} and {}",
                    tag, type.to_string(), max_images));
  const Output few =
      images.graph->on(images.node().device, [&] { return first_images(images, max_images); });
  add(tag, {few}, [tag, max_images](std::span<const Tensor> tensors, std::vector<Summary>& summaries) {
    const std::int64_t count = std::min<std::int64_t>(tensors[0].shape()[0], max_images);
    for (std::int64_t i = 0; i < count; ++i)
      summaries.push_back({fmt::format("{}/image/{}", tag, i), image_summary(tag, tensors[0], i)});
  });
}

std::vector<Summary> Summaries::values(std::span<const Tensor> fetched) const {
  if (fetched.size() != fetches_.size())
    throw invalid_argument(fmt::format("expected the {} tensors of Summaries::fetches(), got {}",
                                       fetches_.size(), fetched.size()));
  std::vector<Summary> summaries;
  for (const Entry& entry : entries_) entry.read(fetched.subspan(entry.first, entry.count), summaries);
  return summaries;
}

}  // namespace actorflow
