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

BOOST_AUTO_TEST_SUITE(op_table)

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

// A scalar that depends on every element of the outputs whose dtype counts, on each with a weight of its
// own.
Output weighted_sum(RowGraph& g, bool (*counts)(DType)) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> weight(0.5, 1.5);
  Output total = g.graph.constant(0.0);
  for (const Output& output : g.outputs) {
    if (!counts(output.dtype())) continue;
    Tensor weights = Tensor::allocate(DType::float64, output.shape());
    for (double& value : weights.mutable_values<double>()) value = weight(random);
    total = total + sum(cast(output, DType::float64) * g.graph.constant(weights));
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
  std::ranges::copy_if(actorflow::test::op_table(), std::back_inserter(rows), wanted);
  return rows;
}

bool has_reference(const OpRow& row) { return row.reference != nullptr; }

// What may not refuse float16 and bfloat16.
const std::set<std::string_view> computes_in_16_bits{
    "TanhGrad",   "Sigmoid",       "LogSoftmax",    "SoftmaxGrad", "GeluGrad",     "Tanh",
    "Relu",       "SigmoidGrad",   "Gelu",          "BiasAddGrad", "Softmax",      "LogSoftmaxGrad",
    "ReluGrad",   "BiasAdd",       "Exp",           "Add",         "Sub",          "Mul",
    "Div",        "Maximum",       "Minimum",       "Neg",         "Equal",        "NotEqual",
    "Less",       "LessEqual",     "Greater",       "Select",      "Sum",          "Mean",
    "Max",        "Min",           "GreaterEqual",  "AddN",        "SumLike",      "MeanLike",
    "SpreadLike", "BroadcastLike", "MatMul",        "Cast",        "Identity",     "Reshape",
    "Slice",      "Concat",        "BatchMatMul",   "Gather",      "Transpose",    "Tile",
    "TileGrad",   "TakeAlongAxis", "ScatterUpdate", "OnesLike",    "ZerosLike",    "Pad",
    "SliceLike",  "PadLike",       "StitchRows",    "ScatterAdd",  "AddAlongAxis", "UnsortedSegmentSum"};

// The second derivative of a softmax is of sums of products, each rounded: its error grows with the row.
bool has_gradient_in_16_bits(const OpRow& row) {
  return has_gradient(row) && computes_in_16_bits.contains(row.op) && row.op != "SoftmaxGrad";
}

// The gradients by the floating inputs of the weighted sum; zeros where nothing flows back.
Arrays gradients_of(RowGraph& g, DType floating) {
  std::vector<Output> inputs;
  for (const Output& input : g.inputs)
    if (input.dtype() == floating) inputs.push_back(input);
  Arrays found;
  for (const Output& gradient : gradients(weighted_sum(g, is_floating), inputs)) {
    const Output& input = inputs[found.size()];
    const Tensor zero = Tensor::zeros(floating, input.shape());
    const Tensor value = gradient ? interpret(g.graph.def(), g.feeds, {gradient})[0] : zero;
    BOOST_TEST(value.describe() == zero.describe());
    found.push_back(to_array(value));
  }
  return found;
}

// The same numbers for a graph in float64.
void feed_widened(const RowGraph& narrow, RowGraph& wide) {
  for (std::size_t i = 0; i < wide.inputs.size(); ++i) {
    if (wide.inputs[i].dtype() != DType::float64) continue;
    const Array numbers = to_array(narrow.feeds.at(narrow.inputs[i].edge.node));
    Tensor& fed = wide.feeds.at(wide.inputs[i].edge.node);
    std::ranges::copy(numbers.values, fed.mutable_values<double>().begin());
  }
}

// Within a few units of the last place: each of a gradient's ops rounds once.
void check_gradient_in_16_bits(const OpRow& row, DType floating, double tolerance) {
  RowGraph narrow(row, floating), wide(row, DType::float64);
  feed_widened(narrow, wide);
  const Arrays actual = gradients_of(narrow, floating), expected = gradients_of(wide, DType::float64);
  BOOST_TEST_REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    for (std::size_t k = 0; k < expected[i].values.size(); ++k) {
      const double is = actual[i].values[k], should = expected[i].values[k];
      if (!(std::abs(is - should) <= tolerance * std::max(1.0, std::abs(should))))
        BOOST_ERROR("element " << k << " of gradient " << i << " is " << is << ", not " << should);
    }
}

bool names_what_helps(std::string_view message) {
  return message.find("cast it to float32") != message.npos;
}

}  // namespace

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

// Half a unit of the last place of each result, or a sentence that says what to do.
void check_in_16_bits(const OpRow& row, DType floating, double tolerance) {
  OpRow rounded = row;
  rounded.tolerance = row.tolerance + tolerance;
  try {
    RowGraph(row, floating);
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::invalid_argument));
    BOOST_TEST(names_what_helps(error.what()), row << ": " << error.what());
    BOOST_TEST(!computes_in_16_bits.contains(row.op), row << ": " << error.what());
    return;
  }
  check_against_reference(rounded, floating);
}

BOOST_DATA_TEST_CASE(kernels_agree_with_the_reference_in_float16, rows_with(has_reference), row) {
  check_in_16_bits(row, DType::float16, 0x1p-11);
}

BOOST_DATA_TEST_CASE(kernels_agree_with_the_reference_in_bfloat16, rows_with(has_reference), row) {
  check_in_16_bits(row, DType::bfloat16, 0x1p-8);
}

BOOST_DATA_TEST_CASE(gradients_agree_with_differences, rows_with(has_gradient), row) {
  RowGraph g(row, DType::float64);
  const Output loss = weighted_sum(g, [](DType dtype) { return dtype == DType::float64; });
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

BOOST_DATA_TEST_CASE(gradients_in_16_bits_are_those_in_float64, rows_with(has_gradient_in_16_bits),
                     row) {
  check_gradient_in_16_bits(row, DType::float16, 0x1p-8);
  check_gradient_in_16_bits(row, DType::bfloat16, 0x1p-5);
}

BOOST_AUTO_TEST_SUITE_END()
