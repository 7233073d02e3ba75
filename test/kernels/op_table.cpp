// Every row of the op table on the CPU: kernels against the reference, gradients against difference
// quotients; and every op against the table.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A graph with the row's op, its inputs as placeholders.
struct RowGraph {
  explicit RowGraph(const OpRow& row, DType floating = DType::float32) {
    for (const auto& tensor : make_inputs(row, floating)) {
      inputs.push_back(graph.placeholder(tensor.dtype(), tensor.shape()));
      feeds[inputs.back().edge.node] = tensor;
    }
    first = graph.add(builtin_ops().def(row.op), inputs, row.attrs);
    for (std::size_t i = 0; i < first.node().outputs.size(); ++i)
      outputs.push_back(first.output(static_cast<int>(i)));
  }

  Graph graph;
  std::vector<Output> inputs, outputs;
  Output first;
  Feeds feeds;
};

void check_output(const OpRow& row, const Output& declared, const Tensor& actual,
                  const Array& expected) {
  BOOST_TEST(to_string(declared.dtype()) == to_string(actual.dtype()));
  BOOST_TEST(declared.shape().compatible_with(actual.shape()));
  BOOST_TEST_REQUIRE(actual.shape().to_string() == expected.shape.to_string());
  const Array values = to_array(actual);
  const double tolerance = is_floating(actual.dtype()) ? row.tolerance : 0;
  for (std::int64_t i = 0; i < actual.elements(); ++i)
    if (!(std::abs(values[i] - expected[i]) <= tolerance * std::max(1.0, std::abs(expected[i]))))
      BOOST_ERROR("element " << i << " is " << values[i] << ", expected " << expected[i]);
}

void check_against_reference(const OpRow& row, DType floating) {
  RowGraph g(row, floating);
  Arrays inputs;
  for (const auto& input : g.inputs) inputs.push_back(to_array(g.feeds.at(input.edge.node)));
  const Arrays expected = row.reference(inputs);
  const auto actual = interpret(g.graph.def(), g.feeds, g.outputs);
  BOOST_TEST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    check_output(row, g.outputs[i], actual[i], expected[i]);
}

// A scalar that depends on every floating element of the outputs, on each with a weight of its own.
Output weighted_sum(RowGraph& g) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> weight(0.5, 1.5);
  Output total = g.graph.constant(0.0);
  for (const Output& output : g.outputs) {
    if (output.dtype() != DType::float64) continue;
    Tensor weights = Tensor::allocate(DType::float64, output.shape());
    for (double& value : weights.mutable_values<double>()) value = weight(random);
    total = total + sum(output * g.graph.constant(weights));
  }
  return total;
}

double evaluate(const RowGraph& g, const Output& loss, const Feeds& feeds) {
  return interpret(g.graph.def(), feeds, {loss})[0].scalar<double>();
}

// The central difference of the loss by one element of one input.
double difference(const RowGraph& g, const Output& loss, const Output& input, std::size_t element) {
  constexpr double step = 1e-5;
  double losses[2];
  for (const int side : {0, 1}) {
    Feeds feeds = g.feeds;
    Tensor moved = feeds.at(input.edge.node).clone();
    moved.mutable_values<double>()[element] += side == 0 ? -step : step;
    feeds[input.edge.node] = moved;
    losses[side] = evaluate(g, loss, feeds);
  }
  return (losses[1] - losses[0]) / (2 * step);
}

void check_gradient(const RowGraph& g, const Output& loss, const Output& input, const Tensor& gradient) {
  BOOST_TEST_REQUIRE(gradient.describe() == g.feeds.at(input.edge.node).describe());
  const auto values = gradient.values<double>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = difference(g, loss, input, i);
    if (!(std::abs(values[i] - expected) <= 1e-6 * std::max(1.0, std::abs(expected))))
      BOOST_ERROR("by element " << i << " of input " << input.name() << ": " << values[i]
                                << ", but the difference quotient is " << expected);
  }
}

template <class Wanted>
std::vector<OpRow> rows_with(Wanted wanted) {
  std::vector<OpRow> rows;
  std::ranges::copy_if(op_table(), std::back_inserter(rows), wanted);
  return rows;
}

bool has_reference(const OpRow& row) { return row.reference != nullptr; }
bool has_gradient(const OpRow& row) {
  const OpDef* op = builtin_ops().registry().find(row.op);
  return op && op->gradient;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(op_table)

BOOST_AUTO_TEST_CASE(every_op_with_a_cpu_kernel_has_a_row) {
  std::set<std::string_view> covered;
  for (const auto& row : actorflow::test::op_table()) covered.insert(row.op);
  for (const Op& op : list_builtin_ops())
    if (op.cpu) BOOST_TEST(covered.contains(op.def->name), "no row for " << op.def->name);
}

BOOST_DATA_TEST_CASE(kernels_agree_with_the_reference, rows_with(has_reference), row) {
  check_against_reference(row, DType::float32);
}

BOOST_DATA_TEST_CASE(kernels_agree_with_the_reference_in_float64, rows_with(has_reference), row) {
  OpRow precise = row;
  precise.tolerance = 1e-12;
  check_against_reference(precise, DType::float64);
}

BOOST_DATA_TEST_CASE(gradients_agree_with_differences, rows_with(has_gradient), row) {
  RowGraph g(row, DType::float64);
  const Output loss = weighted_sum(g);
  std::vector<Output> floating;
  for (const Output& input : g.inputs)
    if (input.dtype() == DType::float64) floating.push_back(input);
  const auto by_input = gradients(loss, floating);
  for (std::size_t i = 0; i < floating.size(); ++i) {
    const Tensor zero = Tensor::zeros(DType::float64, floating[i].shape());  // where nothing flows back
    const Tensor gradient = by_input[i] ? interpret(g.graph.def(), g.feeds, {by_input[i]})[0] : zero;
    check_gradient(g, loss, floating[i], gradient);
  }
}

BOOST_AUTO_TEST_SUITE_END()
