// Every op of the table, run eagerly and traced: the bits of outputs and gradients are those of the
// graph.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <random>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/eager/gradient_tape.h"
#include "kernels/eager/traced_function.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"

BOOST_AUTO_TEST_SUITE(eager_ops)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A scalar that depends on every floating element of the outputs, on each with a weight of its own.
Output weighted_sum(Graph& graph, const Outputs& outputs) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> weight(0.5, 1.5);
  Output total = graph.constant(0.0);
  for (const Output& output : outputs) {
    if (!is_floating(output.dtype())) continue;
    Tensor weights = Tensor::allocate(DType::float64, output.shape());
    for (double& value : weights.mutable_values<double>()) value = weight(random);
    total = total + sum(cast(output, DType::float64) * graph.constant(weights));
  }
  return total;
}

// The outputs of the row's op; behind them, if it has a gradient, a loss of theirs.
Outputs add_row(const OpRow& row, Graph& graph, const Outputs& inputs) {
  const OpDef& op = builtin_ops().def(row.op);
  Outputs outputs = outputs_of(graph.add(op, inputs, row.attrs));
  if (op.gradient) outputs.push_back(weighted_sum(graph, outputs));
  return outputs;
}

Outputs floating_of(const Outputs& tensors) {
  Outputs floating;
  std::ranges::copy_if(tensors, std::back_inserter(floating),
                       [](const Output& tensor) { return is_floating(tensor.dtype()); });
  return floating;
}

// The graph's values, of gradients only where there is one.
struct Expected {
  explicit Expected(const OpRow& row) {
    Graph graph;
    Feeds feeds;
    Outputs inputs;
    for (const Tensor& tensor : make_inputs(row)) {
      inputs.push_back(graph.placeholder(tensor.dtype(), tensor.shape()));
      feeds[inputs.back().edge.node] = tensor;
    }
    const Outputs added = add_row(row, graph, inputs);
    outputs = interpret(graph.def(), feeds, added);
    if (!has_gradient(row)) return;
    for (const Output& gradient : actorflow::gradients(added.back(), floating_of(inputs)))
      gradients.push_back(gradient ? interpret(graph.def(), feeds, {gradient})[0] : Tensor());
  }

  std::vector<Tensor> outputs, gradients;
};

void check_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected) {
  BOOST_TEST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (expected[i].valid())
      BOOST_TEST(identical(actual[i], expected[i]), "tensor " << i << " differs");
    else
      BOOST_TEST(!actual[i].valid(), "tensor " << i << " should not be there");
}

}  // namespace

BOOST_DATA_TEST_CASE(an_eager_op_computes_the_bits_of_the_graph, op_table(), row) {
  const Expected expected(row);
  GradientTape tape;
  Outputs inputs;
  for (const Tensor& tensor : make_inputs(row)) inputs.push_back(tape.constant(tensor));
  const Outputs outputs = add_row(row, tape.graph(), inputs);
  std::vector<Tensor> values;
  for (const Output& output : outputs) {
    values.push_back(value(output));
    BOOST_TEST(output.shape().to_string() == values.back().shape().to_string());
  }
  check_same(values, expected.outputs);
  if (has_gradient(row))
    check_same(tape.gradients(outputs.back(), floating_of(inputs)), expected.gradients);
}

BOOST_DATA_TEST_CASE(a_traced_op_computes_the_bits_of_the_graph, op_table(), row) {
  const Expected expected(row);
  std::vector<Tensor> there = expected.outputs;
  std::ranges::copy_if(expected.gradients, std::back_inserter(there), &Tensor::valid);
  const auto traced = trace([&](const Outputs& inputs) {
    Outputs outputs = add_row(row, *inputs[0].graph, inputs);
    if (has_gradient(row))
      for (const Output& gradient : gradients(Output(outputs.back()), floating_of(inputs)))
        if (gradient) outputs.push_back(gradient);
    return outputs;
  });
  const auto inputs = make_inputs(row);
  if (inputs.empty()) return;  // there is no input that would tell the function its graph
  check_same(traced(inputs), there);
}

BOOST_AUTO_TEST_SUITE_END()
