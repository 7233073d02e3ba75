// Conditions and loops: values by hand, gradients against difference quotients and unrolled graphs.
#include "kernels/control/control_flow.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(control_flow)

using namespace actorflow;
using namespace actorflow::test;

namespace {

Tensor run(const Output& output, const Feeds& feeds = {}) {
  return interpret(output.graph->def(), feeds, {output})[0];
}

void expect_error(Code code, const std::function<void()>& call, const std::string& text) {
  BOOST_CHECK_EXCEPTION(call(), Error, [&](const Error& error) {
    BOOST_TEST_INFO(error.what());
    return error.code() == code && std::string(error.what()).find(text) != std::string::npos;
  });
}

double number(const Output& output, const Feeds& feeds = {}) {
  return run(output, feeds).scalar<double>();
}

using Function = std::function<Output(Output)>;

// f of a float64 scalar, and its gradient.
struct Curve {
  Graph g;
  Output x = g.placeholder(DType::float64, {}), y, slope;

  explicit Curve(const Function& f) : y(f(x)), slope(gradients(y, {x})[0]) {}
  double at(double place) const { return number(y, feeds(place)); }
  double slope_at(double place) const { return number(slope, feeds(place)); }

 private:
  Feeds feeds(double place) const { return {{x.edge.node, Tensor::scalar(place)}}; }
};

// x^n as a loop over a counter and a product.
Output power(Output x, Output n) {
  Graph& g = *x.graph;
  return while_loop([n](const LoopVariables& v) { return v[0] < n; },
                    [x](const LoopVariables& v) {
                      return LoopVariables{v[0] + 1, v[1] * x};
                    },
                    {g.constant(std::int64_t{0}), ones_like(x)})[1];
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_condition_computes_the_chosen_branch) {
  const Curve f([](Output x) {
    return cond(
        x > 0, [&] { return x * x; }, [&] { return -3.0 * x; });
  });
  BOOST_TEST(f.at(5) == 25);
  BOOST_TEST(f.at(-2) == 6);
  BOOST_TEST(f.slope_at(5) == 10);
  BOOST_TEST(f.slope_at(-2) == -3);
}

BOOST_AUTO_TEST_CASE(the_other_branch_is_not_computed) {
  Graph g;
  const Output table = g.constant(Tensor{1.0F, 2.0F, 3.0F}), index = g.placeholder(DType::int64, {});
  const Output row = cond(
      index < 3, [&] { return gather(table, index); }, [&] { return g.constant(-1.0F); });
  const auto at = [&](std::int64_t i) {
    return run(row, {{index.edge.node, Tensor::scalar(i)}}).scalar<float>();
  };
  BOOST_TEST(at(2) == 3);
  BOOST_TEST(at(7) == -1);  // gather() would fail
}

BOOST_AUTO_TEST_CASE(a_condition_in_a_condition) {
  const Curve f([](Output x) {
    return cond(
        x > 0,
        [&] {
          return cond(
              x > 10, [&] { return x * 100.0; }, [&] { return x * x; });
        },
        [&] { return x; });
  });
  BOOST_TEST(f.at(20) == 2000);
  BOOST_TEST(f.at(3) == 9);
  BOOST_TEST(f.at(-3) == -3);
  BOOST_TEST(f.slope_at(20) == 100);
  BOOST_TEST(f.slope_at(3) == 6);
  BOOST_TEST(f.slope_at(-3) == 1);
}

BOOST_AUTO_TEST_CASE(
    tensors_that_a_branch_uses_have_gradients_whatever_they_have_to_do_with_each_other) {
  // With b = a^2 the branch is a b = a^3.
  const Curve f([](Output a) {
    const Output b = square(a);
    return cond(
        a > 0, [&] { return a * b; }, [&] { return b; });
  });
  BOOST_TEST(f.slope_at(2) == 12);
  BOOST_TEST(f.slope_at(-2) == -4);
}

BOOST_AUTO_TEST_CASE(a_second_gradient_through_a_condition) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {});
  const Output y = cond(
      x > 0, [&] { return x * x * x; }, [&] { return x; });
  const Output second = gradients(gradients(y, {x})[0], {x})[0];
  BOOST_TEST(number(second, {{x.edge.node, Tensor::scalar(2.0)}}) == 12);
  BOOST_TEST(number(second, {{x.edge.node, Tensor::scalar(-2.0)}}) == 0);
}

BOOST_AUTO_TEST_CASE(branches_may_differ_in_shape) {
  Graph g;
  const Output flag = g.placeholder(DType::boolean, {});
  const Output x = cond(
      flag,
      [&] {
        return fill(g, {2, 3}, 1);
      },
      [&] {
        return fill(g, {2, 5}, 1);
      });
  BOOST_TEST(x.type().to_string() == "float32[2,?]");
  BOOST_TEST(run(x, {{flag.edge.node, Tensor::scalar(false)}}).describe() == "float32[2,5]");
}

BOOST_AUTO_TEST_CASE(nodes_of_branches_are_not_in_the_graph) {
  Graph g;
  const Output x = g.constant(1.0);
  Output inside;
  const Output y = cond(
      x > 0, [&] { return inside = exp(x); }, [&] { return x; });
  BOOST_TEST(number(y) == std::exp(1.0), boost::test_tools::tolerance(1e-12));
  expect_error(
      Code::invalid_argument, [&] { inside + x; }, "it is of a cond() or while_loop()");
  for (const Node& node : g.def().nodes) BOOST_TEST(node.op->name != "Exp");
}

BOOST_AUTO_TEST_CASE(a_loop_runs_while_its_condition_holds) {
  Graph g;
  const Output n = g.placeholder(DType::int64, {});
  const Output smallest =
      while_loop([n](const LoopVariables& v) { return v[0] < n; },
                 [](const LoopVariables& v) { return v[0] * 2; }, g.constant(std::int64_t{1}));
  const auto at = [&](std::int64_t limit) {
    return run(smallest, {{n.edge.node, Tensor::scalar(limit)}}).scalar<std::int64_t>();
  };
  BOOST_TEST(at(1) == 1);  // no iteration
  BOOST_TEST(at(100) == 128);
  BOOST_TEST(at(1LL << 40) == 1LL << 40);
}

BOOST_AUTO_TEST_CASE(a_loop_of_several_variables) {
  Graph g;
  const auto zero = g.constant(std::int64_t{0}), one = g.constant(std::int64_t{1});
  const auto last = while_loop([](const LoopVariables& v) { return v[0] < 50; },
                               [](const LoopVariables& v) {
                                 return LoopVariables{v[0] + 1, v[2], v[1] + v[2]};
                               },
                               {zero, zero, one});
  BOOST_TEST(run(last[1]).scalar<std::int64_t>() == 12586269025);  // Fibonacci's 50th
}

BOOST_AUTO_TEST_CASE(a_loop_in_a_loop) {
  // The sum of i j for i, j below 5.
  Graph g;
  const Output zero = g.constant(std::int64_t{0});
  const auto below_5 = [](const LoopVariables& v) { return v[0] < 5; };
  const Output total =
      while_loop(below_5,
                 [&](const LoopVariables& outer) {
                   const Output row =
                       while_loop(below_5,
                                  [&](const LoopVariables& inner) {
                                    return LoopVariables{inner[0] + 1, inner[1] + outer[0] * inner[0]};
                                  },
                                  {zero, outer[1]})[1];
                   return LoopVariables{outer[0] + 1, row};
                 },
                 {zero, zero})[1];
  BOOST_TEST(run(total).scalar<std::int64_t>() == 100);
}

BOOST_AUTO_TEST_CASE(a_variable_may_change_its_shape) {
  Graph g;
  const Output first = g.constant(Tensor{1.0F, 2.0F});
  const Output grown = while_loop([](const LoopVariables& v) { return shape_of(v[0])[0] < 10; },
                                  [](const LoopVariables& v) {
                                    return concat({v[0], v[0]}, 0);
                                  },
                                  first);
  BOOST_TEST(grown.type().to_string() == "float32[?]");
  BOOST_TEST(run(grown).describe() == "float32[16]");
}

BOOST_AUTO_TEST_CASE(the_gradient_of_a_loop) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {}), n = g.placeholder(DType::int64, {});
  const Output y = power(x, n), slope = gradients(y, {x})[0];
  for (const std::int64_t times : {0, 1, 2, 7}) {
    const Feeds feeds{{x.edge.node, Tensor::scalar(1.5)}, {n.edge.node, Tensor::scalar(times)}};
    const auto exponent = static_cast<double>(times);
    BOOST_TEST(number(y, feeds) == std::pow(1.5, exponent), boost::test_tools::tolerance(1e-12));
    BOOST_TEST(number(slope, feeds) == exponent * std::pow(1.5, exponent - 1),
               boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(a_recurrent_network_has_the_gradients_of_the_unrolled_one) {
  Graph g;
  const Output h0 = g.constant(Tensor{{0.1, -0.2, 0.3}}),
               w = g.constant(Tensor{{0.5, -0.1, 0.2}, {0.3, 0.4, -0.6}, {-0.2, 0.7, 0.1}});
  const Output inputs = g.constant(Tensor{{{1.0, 2.0, 3.0}}, {{-1.0, 0.5, 0.0}}, {{0.2, 0.1, -2.0}}});
  const auto cell = [&](Output h, Output x) { return tanh(matmul(h, w) + x); };
  const Output looped = while_loop([](const LoopVariables& v) { return v[0] < 3; },
                                   [&](const LoopVariables& v) {
                                     return LoopVariables{v[0] + 1, cell(v[1], gather(inputs, v[0]))};
                                   },
                                   {g.constant(std::int64_t{0}), h0})[1];
  Output unrolled = h0;
  for (int t = 0; t < 3; ++t) unrolled = cell(unrolled, inputs[t]);
  const auto by_loop = gradients(sum(square(looped)), {h0, w, inputs});
  const auto by_hand = gradients(sum(square(unrolled)), {h0, w, inputs});
  for (std::size_t i = 0; i < by_loop.size(); ++i) {
    const Tensor a = run(by_loop[i]), b = run(by_hand[i]);
    BOOST_TEST_REQUIRE(a.describe() == b.describe());
    for (std::size_t k = 0; k < a.values<double>().size(); ++k)
      BOOST_TEST(a.values<double>()[k] == b.values<double>()[k], boost::test_tools::tolerance(1e-12));
  }
}

BOOST_AUTO_TEST_CASE(a_condition_in_a_loop_has_gradients) {
  // x doubles until it is 1, then grows by 1: 0.3 -> 0.6 -> 1.2 -> 2.2 -> 3.2.
  const Curve f([](Output x) {
    return while_loop([](const LoopVariables& v) { return v[0] < 3; },
                      [](const LoopVariables& v) {
                        return cond(
                            v[0] < 1, [&] { return v[0] * 2.0; }, [&] { return v[0] + 1.0; });
                      },
                      x);
  });
  BOOST_TEST(f.at(0.3) == 3.2, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(f.slope_at(0.3) == 4, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(a_loop_without_end_fails) {
  Graph g;
  const Output forever =
      while_loop([](const LoopVariables& v) { return v[0] > 0; },
                 [](const LoopVariables& v) { return v[0]; }, g.constant(1.0), {.max_iterations = 10});
  expect_error(
      Code::failed_precondition, [&] { run(forever); }, "did not end within 10 iterations");
}

BOOST_AUTO_TEST_CASE(the_gradient_of_a_loop_has_none) {
  const Curve f([](Output x) { return power(x, x.graph->constant(std::int64_t{2})); });
  expect_error(
      Code::unimplemented, [&] { gradients(f.slope, {f.x}); }, "(WhileGradient)");
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  Graph g;
  const Output x = g.constant(1.0), flag = g.constant(true);
  const Variable w = g.variable("w", x);
  const auto refused = [&](const std::function<Output()>& branch, const std::string& why) {
    expect_error(
        Code::invalid_argument, [&] { cond(flag, branch, [&] { return x; }); }, why);
  };
  refused([&] { return g.constant(1.0F); }, "result 0 of one dtype in both branches");
  refused([&] { return g.variable("inner", x).value(); }, "a variable is made inside");
  refused([&] { return g.assign(w, x); }, "has an effect or hidden state");
  refused([&] { return g.placeholder(DType::float64, {}); }, "has an effect or hidden state");
  refused([&] { return Output(); }, "result 0 is an empty Output");
  refused(
      [&] {
        const Output a = g.on("/device:CPU:0", [&] { return exp(x); });
        return g.on("/device:CPU:1", [&] { return exp(a); });
      },
      "it runs on one device");
  refused([&]() -> Output { throw invalid_argument("the user's own error"); }, "the user's own error");
  BOOST_TEST(g.variables().size() == 1u);

  expect_error(
      Code::invalid_argument,
      [&] {
        cond(
            x, [&] { return x; }, [&] { return x; });
      },
      "bool");
  const auto loop = [&](const LoopCondition& condition, const LoopBody& body) {
    while_loop(condition, body, LoopVariables{x});
  };
  const LoopCondition goes_on = [](const LoopVariables& v) { return v[0] < 3; };
  expect_error(
      Code::invalid_argument,
      [&] {
        loop([](const LoopVariables& v) { return v[0]; }, [](const LoopVariables& v) { return v; });
      },
      "a condition that is a bool scalar");
  expect_error(
      Code::invalid_argument,
      [&] { loop(goes_on, [](const LoopVariables& v) {
              return LoopVariables{v[0], v[0]};
            }); },
      "a body that returns 1 variables");
  expect_error(
      Code::invalid_argument,
      [&] {
        loop(goes_on, [](const LoopVariables& v) { return LoopVariables{cast(v[0], DType::float32)}; });
      },
      "loop variable 0 to stay float64[]");
}

BOOST_AUTO_TEST_SUITE_END()
