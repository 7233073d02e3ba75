// Recurrent ops beside graphs that have the nodes of each step: values and gradients.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "kernels/recurrent/recurrent.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/op_table.h"
#include "test/kernels/support/teams.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(recurrent)

using namespace actorflow;
using namespace actorflow::test;

namespace {

struct Case {
  std::string cell, activation;
  bool backwards = false, masked = false;
  std::int64_t steps = 5, batch = 3, units = 4;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.cell << " " << c.activation << (c.backwards ? " backwards" : "")
             << (c.masked ? " masked" : "") << " " << c.steps << "x" << c.batch << "x" << c.units;
}

std::int64_t gates_of(const std::string& cell) { return cell == "lstm" ? 4 : cell == "gru" ? 3 : 1; }

Output activated(const std::string& name, Output x) {
  if (name == "tanh") return tanh(x);
  if (name == "sigmoid") return sigmoid(x);
  return name == "relu" ? relu(x) : x;
}

// A tensor whose elements are in (-1, 1), and of which no two are alike.
Tensor numbers(const Shape& shape, double phase) {
  Tensor tensor = Tensor::allocate(DType::float64, shape);
  double i = phase;
  for (double& value : tensor.mutable_values<double>()) value = std::sin(i += 1.7);
  return tensor;
}

// Part `gate` of the last axis.
Output gate(Output all, std::int64_t number, std::int64_t units) {
  return slice(all, {0, number * units}, {-1, units});
}

struct Inputs {
  Graph graph;
  Output x, weights, biases, mask;
};

void add_inputs(const Case& c, DType dtype, Inputs& in) {
  const std::int64_t width = gates_of(c.cell) * c.units;
  const auto add = [&](const Shape& shape, double phase) {
    return cast(in.graph.constant(numbers(shape, phase)), dtype);
  };
  in.x = add({c.steps, c.batch, width}, 0);
  in.weights = add({c.units, width}, 1);
  if (c.cell == "gru") in.biases = add({width}, 2);
  if (!c.masked) return;
  Tensor mask = Tensor::allocate(DType::boolean, {c.steps, c.batch});
  int i = 0;
  for (bool& value : mask.mutable_values<bool>()) value = i++ % 3 != 1;
  in.mask = in.graph.constant(mask);
}

Output by_op(const Case& c, const Inputs& in) {
  const RecurrentOptions options{c.activation, c.backwards, in.mask};
  if (c.cell == "lstm") return lstm(in.x, in.weights, options);
  if (c.cell == "gru") return gru(in.x, in.weights, in.biases, options);
  return simple_rnn(in.x, in.weights, options);
}

// The state and the memory after a step.
struct State {
  Output h, memory;
};

State next(const Case& c, const Inputs& in, const State& state, Output x) {
  const auto f = [&](Output of) { return activated(c.activation, of); };
  const Output product = actorflow::matmul(state.h, in.weights);
  if (c.cell == "simple") return {f(x + product), state.memory};
  if (c.cell == "lstm") {
    const auto at = [&](int number) { return gate(x + product, number, c.units); };
    const Output memory = sigmoid(at(1)) * state.memory + sigmoid(at(0)) * f(at(2));
    return {sigmoid(at(3)) * f(memory), memory};
  }
  const Output inner = product + in.biases;
  const auto at = [&](int number) { return gate(x + inner, number, c.units); };
  const Output update = sigmoid(at(0)), reset = sigmoid(at(1));
  const Output candidate = f(gate(x, 2, c.units) + reset * gate(inner, 2, c.units));
  return {update * state.h + (1.0 - update) * candidate, state.memory};
}

Output by_steps(const Case& c, const Inputs& in) {
  Inputs& graph = const_cast<Inputs&>(in);
  const Output nothing = fill(graph.graph, {c.batch, c.units}, 0, in.x.dtype());
  State state{nothing, nothing};
  std::vector<Output> results(static_cast<std::size_t>(c.steps));
  for (std::int64_t i = 0; i < c.steps; ++i) {
    const std::int64_t at = c.backwards ? c.steps - 1 - i : i;
    State after = next(c, in, state, element(in.x, at));
    if (in.mask) {
      const Output mask = reshape(element(in.mask, at), {-1, 1});
      after = {select(mask, after.h, state.h), select(mask, after.memory, state.memory)};
    }
    state = after;
    results[static_cast<std::size_t>(at)] = expand_dims(state.h, {0});
  }
  return concat(results, 0);
}

void expect_close(const Tensor& actual, const Tensor& expected, double tolerance) {
  BOOST_TEST_REQUIRE(actual.describe() == expected.describe());
  const Array a = to_array(actual), b = to_array(expected);
  for (std::int64_t i = 0; i < actual.elements(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance))
      BOOST_ERROR("element " << i << " is " << a[i] << ", not " << b[i]);
}

// The result, and the gradients of a loss that weighs its elements differently.
std::vector<Output> results_of(const Inputs& in, Output h) {
  const Output weights = cast(const_cast<Inputs&>(in).graph.constant(numbers(h.shape(), 3)), h.dtype());
  std::vector<Output> by{in.x, in.weights};
  if (in.biases) by.push_back(in.biases);
  std::vector<Output> results{h};
  for (const Output& gradient : gradients(sum(h * weights), by)) results.push_back(gradient);
  return results;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string cell : {"simple", "lstm", "gru"}) {
    for (const bool backwards : {false, true})
      for (const bool masked : {false, true}) all.push_back({cell, "tanh", backwards, masked});
    for (const std::string activation : {"sigmoid", "relu", "linear"})
      all.push_back({cell, activation, false, true});
    all.push_back({cell, "tanh", false, false, 1, 2, 3});
    all.push_back({cell, "tanh", true, true, 3, 70, 5});  // several shares of examples
  }
  return all;
}

}  // namespace

BOOST_DATA_TEST_CASE(an_op_over_all_steps_is_its_steps, cases(), c) {
  Inputs in;
  add_inputs(c, DType::float64, in);
  const auto actual = interpret(in.graph.def(), {}, results_of(in, by_op(c, in)));
  const auto expected = interpret(in.graph.def(), {}, results_of(in, by_steps(c, in)));
  for (std::size_t i = 0; i < actual.size(); ++i) expect_close(actual[i], expected[i], 1e-12);
}

BOOST_DATA_TEST_CASE(float32_differs_by_its_rounding_only, cases(), c) {
  Inputs narrow, wide;
  add_inputs(c, DType::float32, narrow);
  add_inputs(c, DType::float64, wide);
  const auto actual = interpret(narrow.graph.def(), {}, results_of(narrow, by_op(c, narrow)));
  const auto expected = interpret(wide.graph.def(), {}, results_of(wide, by_op(c, wide)));
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Array a = to_array(actual[i]), b = to_array(expected[i]);
    for (std::int64_t k = 0; k < actual[i].elements(); ++k)
      BOOST_TEST(std::abs(a[k] - b[k]) <= 1e-5 * std::max(1.0, std::abs(b[k])));
  }
}

BOOST_AUTO_TEST_CASE(threads_change_no_bits) {
  for (const std::string cell : {"simple", "lstm", "gru"}) {
    const Case c{cell, "tanh", false, true, 4, 67, 9};
    Inputs in;
    add_inputs(c, DType::float32, in);
    const auto fetches = results_of(in, by_op(c, in));
    ThreadPerPart team;
    const auto alone = interpret(in.graph.def(), {}, fetches);
    const auto together = interpret(in.graph.def(), {}, fetches, cpu_device(), &team);
    BOOST_TEST(team.most_parts > 1);
    for (std::size_t i = 0; i < alone.size(); ++i) BOOST_TEST(identical(alone[i], together[i]));
  }
}

BOOST_AUTO_TEST_CASE(empty_batches_have_empty_results) {
  for (const std::string cell : {"simple", "lstm", "gru"}) {
    const Case c{cell, "tanh", false, true, 3, 0, 2};
    Inputs in;
    add_inputs(c, DType::float32, in);
    const auto results = interpret(in.graph.def(), {}, results_of(in, by_op(c, in)));
    BOOST_TEST(results[0].describe() == "float32[3,0,2]");
    for (const float gradient : results[2].values<float>()) BOOST_TEST(gradient == 0);
  }
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  Graph graph;
  const auto zeros = [&](const Shape& shape) { return fill(graph, shape, 0); };
  const Output x = zeros({5, 3, 8}), weights = zeros({2, 8});
  BOOST_TEST(status_of([&] { lstm(x, zeros({2, 6})); }).message.find("[2,8]") != std::string::npos);
  BOOST_TEST(status_of([&] {
               lstm(zeros({3, 8}), weights);
             }).message.find("rank 3") != std::string::npos);
  BOOST_TEST(status_of([&] { lstm(x, weights, {.activation = "swish"}); }).message.find("'swish'") !=
             std::string::npos);
  BOOST_TEST(status_of([&] {
               lstm(x, weights, {.mask = zeros({5, 3})});
             }).message.find("bool") != std::string::npos);
  BOOST_TEST(status_of([&] {
               gru(zeros({5, 3, 6}), zeros({2, 6}), zeros({2}));
             }).message.find("[6]") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
