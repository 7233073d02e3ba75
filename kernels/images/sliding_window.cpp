#include "kernels/images/sliding_window.h"

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// Throws through either context's fail().
template <class Context>
void expect_places(const Context& c, std::int64_t places, std::int64_t input, std::int64_t window) {
  if (places != Shape::unknown && places <= 0 && input > 0)
    c.fail("windows that fit into the images", std::to_string(window) + " elements over an axis of " +
                                                   std::to_string(input) + " with padding VALID");
}

SlidingAxis checked_axis(const OpContext& c, std::int64_t input, std::int64_t window,
                         std::int64_t stride, Padding padding) {
  const SlidingAxis axis = Sliding::axis(input, window, stride, padding);
  expect_places(c, axis.output, input, window);
  return axis;
}

}  // namespace

std::int64_t Sliding::places(std::int64_t input, std::int64_t window, std::int64_t stride,
                             Padding padding) {
  if (input == Shape::unknown) return Shape::unknown;
  if (padding == Padding::same) return input / stride + (input % stride != 0 ? 1 : 0);
  if (window == Shape::unknown) return Shape::unknown;
  return input < window ? 0 : (input - window) / stride + 1;
}

SlidingAxis Sliding::axis(std::int64_t input, std::int64_t window, std::int64_t stride,
                          Padding padding) {
  SlidingAxis axis{input, places(input, window, stride, padding), window, stride, 0};
  if (padding == Padding::same) axis.before = axis.after() / 2;
  return axis;
}

SlidingAxis Sliding::rows(const OpContext& c, const Shape& images, std::int64_t window) const {
  ACTORFLOW_CHECK(images.rank() == 4, images.to_string());
  return checked_axis(c, images[1], window, strides.height, padding);
}

SlidingAxis Sliding::columns(const OpContext& c, const Shape& images, std::int64_t window) const {
  ACTORFLOW_CHECK(images.rank() == 4, images.to_string());
  return checked_axis(c, images[2], window, strides.width, padding);
}

std::vector<AttrDef> sliding_attrs() {
  return {{"strides", std::vector<std::int64_t>{1, 1, 1, 1}}, {"padding", std::string("SAME")}};
}

Attrs sliding_values(Extent strides, Padding padding) {
  return {{"strides", extent_value(strides)},
          {"padding", std::string(padding == Padding::same ? "SAME" : "VALID")}};
}

Sliding sliding_of(const Node& node) {
  const bool same = attr<std::string>(node, "padding") == "SAME";
  return {extent_of(attr<std::vector<std::int64_t>>(node, "strides")),
          same ? Padding::same : Padding::valid};
}

Sliding expect_sliding(const InferContext& c) {
  const auto& padding = c.attr<std::string>("padding");
  if (padding != "SAME" && padding != "VALID") c.fail("padding SAME or VALID", "'" + padding + "'");
  return {expect_extent(c, "strides"), padding == "SAME" ? Padding::same : Padding::valid};
}

Extent expect_extent(const InferContext& c, std::string_view attribute) {
  const auto& values = c.attr<std::vector<std::int64_t>>(attribute);
  const bool right =
      values.size() == 4 && values[0] == 1 && values[3] == 1 && values[1] > 0 && values[2] > 0;
  if (!right) {
    std::string text;
    for (const auto value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
    c.fail(std::string(attribute) + " of the form (1, height, width, 1)", "(" + text + ")");
  }
  return extent_of(values);
}

Extent extent_of(const std::vector<std::int64_t>& values) { return {values[1], values[2]}; }

std::vector<std::int64_t> extent_value(Extent extent) { return {1, extent.height, extent.width, 1}; }

Shape infer_sliding(const InferContext& c, const Sliding& sliding, std::int64_t window_height,
                    std::int64_t window_width, std::int64_t channels) {
  constexpr std::int64_t any = Shape::unknown;
  const Shape images = c.input(0).shape.merge(Shape{any, any, any, any});
  const Extent windows{window_height, window_width};
  const std::int64_t rows =
      Sliding::places(images[1], windows.height, sliding.strides.height, sliding.padding);
  const std::int64_t columns =
      Sliding::places(images[2], windows.width, sliding.strides.width, sliding.padding);
  expect_places(c, rows, images[1], windows.height);
  expect_places(c, columns, images[2], windows.width);
  return {images[0], rows, columns, channels};
}

}  // namespace actorflow
