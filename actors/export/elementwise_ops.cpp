// Ops that work element by element, and those of dataflow's own that are computed.
#include <algorithm>

#include "actors/export/onnx_context.h"

namespace actorflow {
namespace {

// Applies an operator to images with their channels first if they exist in that layout anyway: that
// saves two transposes between the layers of a convolutional model.
std::string elementwise(OnnxContext& c, std::string_view op, OnnxAttrs attrs = {}) {
  auto& builder = c.builder();
  bool alike = true;
  for (int i = 0; i < c.inputs(); ++i)
    alike = alike && c.shape(i) == c.shape(0) && builder.has_channels_first(c.input(i));
  if (!alike) return c.add(op, c.input_names(), std::move(attrs));
  std::vector<std::string> turned;
  for (const auto& input : c.input_names()) turned.push_back(builder.channels_first(input));
  return builder.channels_last(c.add(op, turned, std::move(attrs)));
}

// ONNX has the same op under this name.
OnnxTranslation as(std::string_view op) {
  return [op](OnnxContext& c) { return elementwise(c, op); };
}

std::string not_equal(OnnxContext& c) { return c.add("Not", {elementwise(c, "Equal")}); }
std::string square(OnnxContext& c) { return c.add("Mul", {c.input(0), c.input(0)}); }
std::string rsqrt(OnnxContext& c) { return c.add("Reciprocal", {elementwise(c, "Sqrt")}); }

std::string cast(OnnxContext& c) {
  return elementwise(c, "Cast", {{"to", std::int64_t{onnx_type(c.dtype())}}});
}

// x Phi(x), with erf in the place of the normal distribution's function.
std::string exact_gelu(OnnxContext& c) {
  const auto scaled = c.add("Mul", {c.input(0), c.scalar(0.70710678118654752440)});
  const auto distribution = c.add("Add", {c.add("Erf", {scaled}), c.scalar(1)});
  return c.add("Mul", {c.add("Mul", {c.input(0), distribution}), c.scalar(0.5)});
}

// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
std::string approximate_gelu(OnnxContext& c) {
  const std::string& x = c.input(0);
  const auto cube = c.add("Mul", {c.add("Mul", {x, x}), x});
  const auto sum = c.add("Add", {x, c.add("Mul", {cube, c.scalar(0.044715)})});
  const auto tanh = c.add("Tanh", {c.add("Mul", {sum, c.scalar(0.79788456080286535588)})});
  return c.add("Mul", {c.add("Mul", {x, c.add("Add", {tanh, c.scalar(1)})}), c.scalar(0.5)});
}

std::string gelu(OnnxContext& c) {
  return c.attr<bool>("approximate") ? approximate_gelu(c) : exact_gelu(c);
}

}  // namespace

OnnxTranslations onnx_elementwise_translations() {
  return {
      {"Identity", as("Identity")},
      {"AddN", as("Sum")},
      {"Neg", as("Neg")},
      {"Abs", as("Abs")},
      {"Sign", as("Sign")},
      {"Square", square},
      {"Exp", as("Exp")},
      {"Log", as("Log")},
      {"Sqrt", as("Sqrt")},
      {"Rsqrt", rsqrt},
      {"Tanh", as("Tanh")},
      {"Sigmoid", as("Sigmoid")},
      {"Relu", as("Relu")},
      {"Gelu", gelu},
      {"Add", as("Add")},
      {"Sub", as("Sub")},
      {"Mul", as("Mul")},
      {"Div", as("Div")},
      {"Maximum", as("Max")},
      {"Minimum", as("Min")},
      {"Pow", as("Pow")},
      {"Equal", as("Equal")},
      {"NotEqual", not_equal},
      {"Less", as("Less")},
      {"LessEqual", as("LessOrEqual")},
      {"Greater", as("Greater")},
      {"GreaterEqual", as("GreaterOrEqual")},
      {"LogicalAnd", as("And")},
      {"LogicalOr", as("Or")},
      {"LogicalNot", as("Not")},
      {"Select", as("Where")},
      {"Cast", cast},
  };
}

}  // namespace actorflow
