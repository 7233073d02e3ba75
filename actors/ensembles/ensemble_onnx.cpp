// An ensemble as one graph, and as one ONNX model.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "actors/ensembles/ensemble_state.h"
#include "actors/export/onnx_export.h"
#include "actors/layers/checks.h"
#include "actors/layers/network_builder.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

// All members side by side, of the same inputs.
struct MembersGraph {
  Graph graph;
  std::vector<Output> x;
  std::vector<Output> outputs;
  std::vector<float> shares;             // of the vote
  std::map<std::string, Tensor> values;  // of the variables
};

std::string input_name(std::size_t input) { return input == 0 ? "x" : fmt::format("x_{}", input); }

// A network within another one.
Layer member_layer(const Architecture& network, const std::string& name) {
  const auto build = [network](LayerScope& scope, const std::vector<Output>& x) {
    std::vector<std::pair<SymbolicTensor, Output>> values;
    for (std::size_t i = 0; i < x.size(); ++i) values.emplace_back(network.inputs[i], x[i]);
    const auto value_of = [&values](const SymbolicTensor& tensor) {
      return std::ranges::find(values, tensor, [](const auto& entry) { return entry.first; })->second;
    };
    for (const SymbolicTensor& result : layer_results(network)) {
      std::vector<Output> inputs;
      for (const SymbolicTensor& input : result.def().inputs) inputs.push_back(value_of(input));
      values.emplace_back(result, scope.apply(*result.def().layer, inputs));
    }
    return value_of(network.outputs[0]);
  };
  return Layer("member", Layer::FunctionOfSeveral(build)).named(name);
}

void add_member(MembersGraph& all, const MemberNetwork& network, int member,
                const std::map<std::string, Tensor>& weights) {
  const std::string name = fmt::format("member_{}", member);
  ModelVariables variables;
  ModelPass pass{.graph = all.graph, .variables = variables, .seed = network.options.seed};
  all.outputs.push_back(LayerScope(pass).apply(member_layer(network.architecture, name), all.x));
  for (const Variable& variable : variables.all())
    all.values[variable.name()] = weights.at(variable.name().substr(name.size() + 1));
}

void add_members(MembersGraph& all, const EnsembleState& state) {
  for (std::size_t i = 0; i < state.example.size(); ++i) {
    const TensorType batch = batched({state.example[i].dtype(), state.example[i].shape()});
    all.x.push_back(all.graph.placeholder(batch.dtype, batch.shape, input_name(i)));
  }
  double sum = 0;
  for (const auto& [member, weights] : state.weights) sum += state.weight_of(member);
  for (const auto& [member, weights] : state.weights) {
    add_member(all, state.networks[static_cast<std::size_t>(member)], member, weights);
    all.shares.push_back(static_cast<float>(state.weight_of(member) / sum));
  }
}

Output weighted_sum(const MembersGraph& all, const std::vector<Output>& parts) {
  Output sum;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Output part = parts[i] * all.shares[i];
    sum = i == 0 ? part : sum + part;
  }
  return sum;
}

// float32 [n, classes], as probabilities_of() has them.
Output probabilities_node(Output logits) {
  if (logits.shape().rank() == 2 && logits.shape()[1] > 1) return softmax(logits);
  const Output p = sigmoid(reshape(logits, {Shape::unknown, 1}));
  return concat({1.0F - p, p}, 1);
}

// One-hot rows: 1 for the class with the largest probability.
Output named_class(Output probabilities) {
  std::vector<std::int64_t> classes(static_cast<std::size_t>(probabilities.shape()[1]));
  std::iota(classes.begin(), classes.end(), 0);
  const Output numbers = probabilities.graph->constant(
      Tensor::of<std::int64_t>({1, static_cast<std::int64_t>(classes.size())}, classes));
  return cast(equal(expand_dims(argmax(probabilities, 1), {1}), numbers), DType::float32);
}

Tensor as_float32(const Tensor& tensor) {
  const auto values = tensor.values<double>();
  std::vector<float> converted;
  for (const double value : values) converted.push_back(static_cast<float>(value));
  return Tensor::of<float>(tensor.shape(), converted);
}

// The scores of stacking from the members' answers, float32 [n, columns] each.
Output regression_node(MembersGraph& all, const EnsembleState& state, std::vector<Output> said) {
  for (std::size_t i = 0; state.options.passthrough && i < all.x.size(); ++i)
    said.push_back(
        cast(reshape(all.x[i], {Shape::unknown, state.example[i].elements()}), DType::float32));
  const Output weights = all.graph.constant(as_float32(state.regression->weights));
  const Output bias = all.graph.constant(as_float32(state.regression->bias));
  return matmul(concat(said, 1), weights) + bias;
}

Output numbers_node(MembersGraph& all, const EnsembleState& state) {
  if (!state.regression) return weighted_sum(all, all.outputs);
  const Shape shape = all.outputs[0].shape();
  std::vector<Output> tables;
  for (const Output& output : all.outputs)
    tables.push_back(reshape(output, {Shape::unknown, state.regression->bias.elements()}));
  return reshape(regression_node(all, state, tables), shape);
}

std::map<std::string, Output> answers(MembersGraph& all, const EnsembleState& state) {
  if (state.has_numbers()) return {{"y", numbers_node(all, state)}};
  std::vector<Output> probabilities, named;
  for (const Output& output : all.outputs) probabilities.push_back(probabilities_node(output));
  if (state.vote == Vote::hard) {
    for (const Output& output : probabilities) named.push_back(named_class(output));
    return {{"y", argmax(weighted_sum(all, named), 1)}};
  }
  const Output joined = state.regression ? softmax(regression_node(all, state, probabilities))
                                         : weighted_sum(all, probabilities);
  return {{"probabilities", joined}, {"y", argmax(joined, 1)}};
}

}  // namespace

void Ensemble::export_onnx(const std::string& folder) const {
  expect_path("Ensemble::export_onnx", folder);
  state_->expect_trained();
  MembersGraph all;
  add_members(all, *state_);
  Signature signature{{}, answers(all, *state_)};
  for (std::size_t i = 0; i < all.x.size(); ++i) signature.inputs[input_name(i)] = all.x[i];
  actorflow::export_onnx(posix_storage(), folder, {{serving_default, signature}}, all.values);
}

}  // namespace actorflow
