#include "actors/layers/recurrent.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "actors/layers/checks.h"
#include "actors/layers/layers.h"
#include "dataflow/values/error.h"
#include "kernels/ops/arrays.h"
#include "kernels/recurrent/recurrent.h"

namespace actorflow {
namespace {

// What cells differ in.
struct Cell {
  const char* kind;
  std::int64_t gates;
  bool biases_of_state = false;
  Initializer biases = zeros();  // by default
  Output (*op)(Output inputs, Output recurrent, Output biases, const RecurrentOptions& options);
};

// The name by which the ops know the function.
std::string name_of(const char* kind, const Activation& activation) {
  if (!activation) return "linear";
  if (activation.is(&tanh)) return "tanh";
  if (activation.is(&relu)) return "relu";
  if (activation.is(&sigmoid)) return "sigmoid";
  throw invalid_argument(fmt::format(
      "{}: expected one of the activations tanh, relu, sigmoid or none, got another function", kind));
}

void check(const char* kind, std::int64_t units, const RecurrentLayerOptions& options) {
  expect_positive(kind, "units", units);
  if (!(options.dropout >= 0 && options.dropout < 1))
    throw invalid_argument(
        fmt::format("{}: expected a dropout from 0 on and below 1, got {}", kind, options.dropout));
}

// Ones for the forget gate, zeros for the others: Jozefowicz et al. (2015).
Initializer open_forget_gates() {
  return [](Graph& graph, const Shape& shape, std::uint64_t) {
    const std::int64_t units = shape[0] / 4;
    return concat({fill(graph, {units}, 0), fill(graph, {units}, 1), fill(graph, {2 * units}, 0)}, 0);
  };
}

Output reversed(Output x, std::int64_t axis) {
  const std::int64_t last = x.shape()[static_cast<int>(axis)] - 1;
  return gather(x, range(*x.graph, last, -1, -1), axis);
}

// A recurrent layer in one graph. Steps come first within: each step's rows are then one matrix.
class Recurrence {
 public:
  Recurrence(LayerScope& scope, const Cell& cell, std::int64_t units,
             const RecurrentLayerOptions& options, bool backwards, bool in_place)
      : scope_(scope),
        cell_(cell),
        units_(units),
        options_(options),
        backwards_(backwards),
        in_place_(in_place) {}

  Output operator()(Output x) {
    expect_floating(x);
    expect_rank(x, 3, "[batch, steps, features]");
    const std::int64_t steps = batch_of(x.shape())[1];
    const RecurrentOptions options{name_of(cell_.kind, options_.activation), backwards_, mask_of(x)};
    const std::int64_t width = cell_.gates * units_;
    const Output gates = of_inputs(dropped(x), steps);
    const Variable recurrent = scope_.weight("recurrent_weights", {units_, width},
                                             options_.recurrent_weights, options_.recurrent_regularizer);
    const Output biases = add_biases(width);
    const Output h = cell_.op(biased(gates, biases), recurrent, of_state(biases, width), options);
    if (!options_.return_sequences) return element(h, backwards_ ? 0 : steps - 1);
    const Output in_order = transpose(h, {1, 0, 2});
    return backwards_ && !in_place_ ? reversed(in_order, 1) : in_order;
  }

 private:
  Output mask_of(Output x) const {
    const Output mask = scope_.mask(x);
    return mask ? transpose(mask, {1, 0}) : mask;
  }

  Output dropped(Output x) const {
    if (options_.dropout == 0 || !scope_.training()) return x;
    const Output features = ones_like(slice(x, {0, 0, 0}, {-1, 1, -1}));
    return x * dropout(features, options_.dropout, scope_.seed(), scope_.step());
  }

  // [steps, batch, width]: what the inputs give the gates.
  Output of_inputs(Output x, std::int64_t steps) const {
    const std::int64_t features = last_dimension(x), width = cell_.gates * units_;
    const Variable weights =
        scope_.weight("weights", {features, width}, options_.weights, options_.regularizer);
    const Output rows = reshape(transpose(x, {1, 0, 2}), {-1, features});
    return reshape(matmul(rows, weights), {steps, -1, width});
  }

  // [width], or with those of the state [2, width]; empty without biases.
  Output add_biases(std::int64_t width) const {
    if (!options_.bias) return {};
    const Initializer& initial = options_.biases ? options_.biases : cell_.biases;
    return scope_.weight("biases", cell_.biases_of_state ? Shape{2, width} : Shape{width}, initial);
  }
  Output biased(Output gates, Output biases) const {
    if (!biases) return gates;
    return bias_add(gates, cell_.biases_of_state ? element(biases, 0) : biases);
  }
  Output of_state(Output biases, std::int64_t width) const {
    if (!cell_.biases_of_state) return {};
    return biases ? element(biases, 1) : fill(scope_.graph(), {width}, 0);
  }

  LayerScope& scope_;
  const Cell& cell_;
  std::int64_t units_;
  const RecurrentLayerOptions& options_;
  bool backwards_, in_place_;
};

RecurrentLayer recurrent_layer(const Cell& cell, std::int64_t units,
                               const RecurrentLayerOptions& options) {
  check(cell.kind, units, options);
  name_of(cell.kind, options.activation);
  const auto make = [=](bool backwards, bool in_place) -> Layer {
    return {cell.kind, [=](LayerScope& scope, Output x) {
              return Recurrence(scope, cell, units, options, backwards, in_place)(x);
            }};
  };
  return {make, options.go_backwards};
}

}  // namespace

RecurrentLayer simple_rnn(std::int64_t units, const RecurrentLayerOptions& options) {
  const Cell cell{.kind = "simple_rnn", .gates = 1, .op = [](Output x, Output w, Output, const auto& o) {
                    return simple_rnn(x, w, o);
                  }};
  return recurrent_layer(cell, units, options);
}

RecurrentLayer lstm(std::int64_t units, const RecurrentLayerOptions& options) {
  const Cell cell{.kind = "lstm",
                  .gates = 4,
                  .biases = open_forget_gates(),
                  .op = [](Output x, Output w, Output, const auto& o) { return lstm(x, w, o); }};
  return recurrent_layer(cell, units, options);
}

RecurrentLayer gru(std::int64_t units, const RecurrentLayerOptions& options) {
  const Cell cell{.kind = "gru",
                  .gates = 3,
                  .biases_of_state = true,
                  .op = [](Output x, Output w, Output b, const auto& o) { return gru(x, w, b, o); }};
  return recurrent_layer(cell, units, options);
}

Layer bidirectional(const RecurrentLayer& layer) { return bidirectional(layer, concatenate()); }

Layer bidirectional(const RecurrentLayer& layer, const Layer& merge) {
  const Layer forward = layer.in_place(false).named("forward_" + layer.kind());
  const Layer backward = layer.in_place(true).named("backward_" + layer.kind());
  return {"bidirectional", [=](LayerScope& scope, Output x) {
            return scope.apply(merge, {scope.apply(forward, x), scope.apply(backward, x)});
          }};
}

}  // namespace actorflow
