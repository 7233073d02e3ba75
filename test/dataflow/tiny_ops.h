// A few ops of float64 scalars, and an interpreter for graphs of them: dataflow/ alone has no kernels.
#pragma once

#include <cmath>
#include <map>
#include <vector>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/graph.h"

namespace actorflow::test {

inline Output multiply(Output a, Output b);

// (a, b) -> a * b
inline const OpDef& multiply_op() {
  static const OpDef op{
      .name = "Multiply",
      .min_inputs = 2,
      .max_inputs = 2,
      .infer = [](InferContext& c) { c.add_output(c.input(0).dtype, c.input(0).shape); },
      .gradient =
          [](GradientContext& c) {
            return std::vector<Output>{multiply(c.gradient(), c.input(1)),
                                       multiply(c.gradient(), c.input(0))};
          }};
  return op;
}

inline Output multiply(Output a, Output b) { return a.graph->add(multiply_op(), {a, b}); }

// (a) -> a + 1, a - 1: two outputs.
inline const OpDef& neighbours_op() {
  static const OpDef op{.name = "Neighbours",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer =
                            [](InferContext& c) {
                              c.add_output(c.input(0).dtype, c.input(0).shape);
                              c.add_output(c.input(0).dtype, c.input(0).shape);
                            },
                        .gradient =
                            [](GradientContext& c) {
                              std::vector<Output> arriving;
                              for (int i = 0; i < 2; ++i)
                                if (c.gradient(i)) arriving.push_back(c.gradient(i));
                              return std::vector<Output>{c.graph().add(add_n_op(), arriving)};
                            }};
  return op;
}

// (a) -> round(a): without a gradient.
inline const OpDef& round_op() {
  static const OpDef op{.name = "Round", .min_inputs = 1, .max_inputs = 1, .infer = [](InferContext& c) {
                          c.add_output(c.input(0).dtype, c.input(0).shape);
                        }};
  return op;
}

// (values, indices) -> [num_segments]: zero except for the values added at the indices. Not computed
// here.
inline const OpDef& rows_to_dense_op() {
  static const OpDef op{.name = "UnsortedSegmentSum",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"num_segments", std::int64_t{0}, true}},
                        .infer =
                            [](InferContext& c) {
                              c.add_output(c.input(0).dtype, {c.attr<std::int64_t>("num_segments")});
                            },
                        .scatters_rows = true};
  return op;
}

// (x [n], indices) -> those elements. Not computed here.
inline const OpDef& gather_op() {
  static const OpDef op{
      .name = "Gather",
      .min_inputs = 2,
      .max_inputs = 2,
      .attrs = {{"axis", std::int64_t{0}}},
      .infer = [](InferContext& c) { c.add_output(c.input(0).dtype, c.input(1).shape); },
      .gradient =
          [](GradientContext& c) {
            return std::vector{c.graph().add(rows_to_dense_op(), {c.gradient(), c.input(1)},
                                             {{"num_segments", c.input(0).shape()[0]}}),
                               Output()};
          },
      .gathers_rows = true};
  return op;
}

inline Output gather(Output x, Output indices) { return x.graph->add(gather_op(), {x, indices}); }

// (x) -> the sum of its elements. Not computed here.
inline const OpDef& total_op() {
  static const OpDef op{.name = "Total",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .infer = [](InferContext& c) { c.add_output(c.input(0).dtype, {}); },
                        .gradient = [](GradientContext& c) { return std::vector{c.input(0)}; }};
  return op;
}

inline Output total(Output x) { return x.graph->add(total_op(), {x}); }

inline std::vector<Tensor> evaluate(const Node& node, const std::vector<Tensor>& inputs) {
  const auto value = [&inputs](std::size_t i) { return inputs[i].scalar<double>(); };
  if (node.op == &const_op()) return {attr<Tensor>(node, "value")};
  if (node.op == &identity_op()) return {inputs[0]};
  if (node.op == &multiply_op()) return {Tensor::scalar(value(0) * value(1))};
  if (node.op == &round_op()) return {Tensor::scalar(std::round(value(0)))};
  if (node.op == &neighbours_op()) return {Tensor::scalar(value(0) + 1), Tensor::scalar(value(0) - 1)};
  if (node.op != &add_n_op()) throw Error(Code::unimplemented, std::string(node.op->name));
  double sum = 0;
  for (const auto& input : inputs) sum += input.scalar<double>();
  return {Tensor::scalar(sum)};
}

// The value of a tensor of a graph, given those of its placeholders.
inline double compute(const GraphDef& graph, Edge wanted, const std::map<NodeId, double>& feeds = {}) {
  if (const auto feed = feeds.find(wanted.node); feed != feeds.end()) return feed->second;
  const Node& node = graph.node(wanted.node);
  std::vector<Tensor> inputs;
  for (const auto& input : node.inputs) inputs.push_back(Tensor::scalar(compute(graph, input, feeds)));
  return evaluate(node, inputs)[static_cast<std::size_t>(wanted.output)].scalar<double>();
}

inline double compute(Output wanted, const std::map<NodeId, double>& feeds = {}) {
  return compute(wanted.graph->def(), wanted.edge, feeds);
}

}  // namespace actorflow::test
