// Recurrent ops, whose inputs have met their weights already: ONNX multiplies them with the unit matrix.
#include <fmt/format.h>

#include <vector>

#include "actors/export/onnx_context.h"

namespace actorflow {
namespace {

using Ints = std::vector<std::int64_t>;

// ONNX's gates of a cell, each as the number of ours; our inputs without a mask; its activations, of
// which "*" is the cell's own.
struct Cell {
  std::string_view op;
  Ints gates;
  int inputs;
  std::vector<std::string> activations;
};

std::string activation(OnnxContext& c) {
  const std::string name = c.attr<std::string>("activation");
  if (name == "tanh") return "Tanh";
  if (name == "relu") return "Relu";
  if (name == "sigmoid") return "Sigmoid";
  c.refuse("ONNX's recurrent ops have no linear activation");
}

// For each column of ours the place that ONNX wants.
Ints columns(const Cell& cell, std::int64_t units) {
  Ints all;
  for (const std::int64_t gate : cell.gates)
    for (std::int64_t u = 0; u < units; ++u) all.push_back(gate * units + u);
  return all;
}

// [1, width, width]: from our gates to ONNX's.
std::string unit_matrix(OnnxContext& c, const Ints& order) {
  const auto width = static_cast<std::int64_t>(order.size());
  Tensor matrix = Tensor::zeros(DType::float32, {1, width, width});
  for (std::size_t row = 0; row < order.size(); ++row)
    matrix.mutable_values<float>()[row * order.size() + static_cast<std::size_t>(order[row])] = 1;
  return c.builder().constant(fmt::format("gates of {} [{}]", c.input(1), width), "gates", matrix);
}

std::string recurrent(OnnxContext& c, const Cell& cell) {
  if (c.dtype() != DType::float32) c.refuse("recurrent layers are exported in float32 only");
  if (c.inputs() > cell.inputs) c.refuse("recurrent layers are exported without masks only");
  const std::int64_t units = c.shape(1)[0];
  if (units < 0) c.refuse("recurrent layers are exported for a known number of units only");
  const Ints order = columns(cell, units);
  const auto transposed = c.add("Transpose", {c.input(1)}, {{"perm", Ints{1, 0}}});
  const auto axis = std::int64_t{0};
  const auto in_order = c.add("Gather", {transposed, c.ints(order)}, {{"axis", axis}});
  std::vector<std::string> inputs{c.input(0), unit_matrix(c, order),
                                  c.add("Unsqueeze", {in_order, c.ints({0})})};
  std::vector<std::string> activations = cell.activations;
  for (std::string& name : activations)
    if (name == "*") name = activation(c);
  OnnxAttrs attrs{{"hidden_size", units},
                  {"activations", activations},
                  {"direction", std::string(c.attr<bool>("backwards") ? "reverse" : "forward")}};
  if (cell.inputs == 3) {
    const std::int64_t width = 3 * units;
    const auto none = c.builder().constant(fmt::format("no biases [{}]", width), "no_biases",
                                           Tensor::zeros(DType::float32, {width}));
    const auto biases = c.add("Concat", {none, c.input(2)}, {{"axis", axis}});
    inputs.push_back(c.add("Unsqueeze", {biases, c.ints({0})}));
    attrs["linear_before_reset"] = std::int64_t{1};
  }
  // [steps, directions, batch, units].
  return c.add("Squeeze", {c.add(cell.op, inputs, std::move(attrs)), c.ints({1})});
}

std::string simple_rnn(OnnxContext& c) { return recurrent(c, {"RNN", {0}, 2, {"*"}}); }
std::string lstm(OnnxContext& c) {
  return recurrent(c, {"LSTM", {0, 3, 1, 2}, 2, {"Sigmoid", "*", "*"}});
}
// Its gates are ours: update, reset, candidate.
std::string gru(OnnxContext& c) { return recurrent(c, {"GRU", {0, 1, 2}, 3, {"Sigmoid", "*"}}); }

}  // namespace

OnnxTranslations onnx_recurrent_translations() {
  return {{"SimpleRnn", simple_rnn}, {"Lstm", lstm}, {"Gru", gru}};
}

}  // namespace actorflow
