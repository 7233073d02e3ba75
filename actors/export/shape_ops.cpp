// Ops that move, choose and reduce elements.
#include <limits>

#include "actors/export/onnx_context.h"

namespace actorflow {
namespace {

using Ints = std::vector<std::int64_t>;

std::string reduce(OnnxContext& c, std::string_view op) {
  const Ints& axes = c.attr<Ints>("axes");
  OnnxAttrs attrs{{"keepdims", onnx_bool(c.attr<bool>("keep_dims"))}};
  if (!axes.empty()) attrs["axes"] = axes;
  return c.add(op, {c.input(0)}, std::move(attrs));
}

OnnxTranslation as_reduction(std::string_view op) {
  return [op](OnnxContext& c) { return reduce(c, op); };
}

// The only reduction that takes its axes as an input, since opset 13.
std::string sum(OnnxContext& c) {
  const Ints& axes = c.attr<Ints>("axes");
  const OnnxAttrs attrs{{"keepdims", onnx_bool(c.attr<bool>("keep_dims"))}};
  if (axes.empty()) return c.add("ReduceSum", {c.input(0)}, attrs);
  return c.add("ReduceSum", {c.input(0), c.ints(axes)}, attrs);
}

std::string argmax(OnnxContext& c) {
  return c.add("ArgMax", {c.input(0)},
               {{"axis", c.attr<std::int64_t>("axis")}, {"keepdims", std::int64_t{0}}});
}

std::string shape_of(OnnxContext& c) { return c.add("Shape", {c.input(0)}); }

// A 0 in the shape is a dimension of no elements, not ONNX's "as it was".
std::string reshape(OnnxContext& c) {
  const auto dims = c.attr<Shape>("shape").dims();
  return c.add("Reshape", {c.input(0), c.ints({dims.begin(), dims.end()})},
               {{"allowzero", onnx_bool(true)}});
}

std::string reshape_like(OnnxContext& c) {
  return c.add("Reshape", {c.input(0), c.add("Shape", {c.input(1)})}, {{"allowzero", onnx_bool(true)}});
}

std::string broadcast_like(OnnxContext& c) {
  return c.add("Expand", {c.input(0), c.add("Shape", {c.input(1)})});
}

std::string expand_dims(OnnxContext& c) {
  return c.add("Unsqueeze", {c.input(0), c.ints(c.attr<Ints>("axes"))});
}

std::string transpose(OnnxContext& c) {
  const Ints& permutation = c.attr<Ints>("permutation");
  if (permutation.empty()) return c.add("Transpose", {c.input(0)});
  return c.add("Transpose", {c.input(0)}, {{"perm", permutation}});
}

std::string slice(OnnxContext& c) {
  const Ints &begin = c.attr<Ints>("begin"), &size = c.attr<Ints>("size");
  Ints end, axes;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    end.push_back(size[i] == -1 ? std::numeric_limits<std::int64_t>::max() : begin[i] + size[i]);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  return c.add("Slice", {c.input(0), c.ints(begin), c.ints(end), c.ints(axes)});
}

std::string concat(OnnxContext& c) {
  return c.add("Concat", c.input_names(), {{"axis", c.attr<std::int64_t>("axis")}});
}

std::string pad(OnnxContext& c) {
  Ints pads = c.attr<Ints>("before");
  const Ints& after = c.attr<Ints>("after");
  pads.insert(pads.end(), after.begin(), after.end());
  return c.add("Pad", {c.input(0), c.ints(pads)});
}

std::string gather(OnnxContext& c) {
  return c.add("Gather", c.input_names(), {{"axis", c.attr<std::int64_t>("axis")}});
}

// A tensor of the shape of input 0, filled with a value.
std::string filled_like(OnnxContext& c, double value) {
  return c.add("Expand", {c.scalar(value), c.add("Shape", {c.input(0)})});
}
std::string zeros_like(OnnxContext& c) { return filled_like(c, 0); }
std::string ones_like(OnnxContext& c) { return filled_like(c, 1); }

std::string fill(OnnxContext& c) {
  const auto dims = c.attr<Shape>("shape").dims();
  return c.add("Expand", {c.scalar(c.attr<double>("value")), c.ints({dims.begin(), dims.end()})});
}

}  // namespace

OnnxTranslations onnx_shape_translations() {
  return {
      {"Sum", sum},
      {"Mean", as_reduction("ReduceMean")},
      {"Max", as_reduction("ReduceMax")},
      {"Min", as_reduction("ReduceMin")},
      {"ArgMax", argmax},
      {"ShapeOf", shape_of},
      {"Reshape", reshape},
      {"ReshapeLike", reshape_like},
      {"BroadcastLike", broadcast_like},
      {"ExpandDims", expand_dims},
      {"Transpose", transpose},
      {"Slice", slice},
      {"Concat", concat},
      {"Pad", pad},
      {"Gather", gather},
      {"ZerosLike", zeros_like},
      {"OnesLike", ones_like},
      {"Fill", fill},
  };
}

}  // namespace actorflow
