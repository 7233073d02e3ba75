// Conditions and loops as nodes of steps: on other tasks, in training, and given up while they run.
#include "kernels/control/control_flow.h"

#include <boost/test/unit_test.hpp>

#include "actors/client/session.h"
#include "actors/task/server.h"
#include "dataflow/train/replicate.h"
#include "kernels/ops.h"
#include "test/support/says.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(control_flow)

using namespace actorflow;

namespace {

constexpr Executor executors[] = {Executor::lanes, Executor::node_actors};

// x doubled until it is at least `limit`.
Output doubled(Output x, Output limit) {
  return while_loop([limit](const LoopVariables& v) { return v[0] < limit; },
                    [](const LoopVariables& v) { return v[0] * 2; }, x);
}

}  // namespace

BOOST_AUTO_TEST_CASE(they_run_where_they_are_placed) {
  LocalCluster cluster({{"local", 2}});
  for (const Executor executor : executors) {
    Graph g;
    const Output x = g.placeholder(DType::int64, {}), limit = g.constant(std::int64_t{100});
    const Output power = g.on("/job:local/task:1", [&] { return doubled(x, limit); });
    const Output even = g.on("/job:local/task:1", [&] {
      return cond(
          power < 120, [&] { return power + 1; }, [&] { return -power; });
    });
    Session session(cluster.server("local", 0).target(), g, {.executor = executor});
    const auto at = [&](std::int64_t start) {
      return session.run(even, {{x, Tensor::scalar(start)}}).scalar<std::int64_t>();
    };
    BOOST_TEST(at(3) == -192);
    BOOST_TEST(at(7) == 113);
    BOOST_TEST(at(7) == 113);
  }
}

BOOST_AUTO_TEST_CASE(a_variable_is_trained_through_a_loop) {
  // Seeks w with w^5 = 32.
  Graph g;
  const Variable step = global_step(g), w = g.variable("w", g.constant(1.5));
  const Output power = while_loop([](const LoopVariables& v) { return v[0] < 5; },
                                  [&](const LoopVariables& v) {
                                    return LoopVariables{v[0] + 1, v[1] * w};
                                  },
                                  {g.constant(std::int64_t{0}), g.constant(1.0)})[1];
  const TrainOp train = minimize(g, square(power - 32.0), {w}, step, Sgd{.learning_rate = 1e-5});
  Session session(g);
  session.initialize_variables();
  for (int i = 0; i < 2000; ++i) session.run(std::vector<Output>{train.step});
  BOOST_TEST(session.run(w).scalar<double>() == 2, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(a_loop_is_left_when_its_step_is_given_up) {
  LocalCluster cluster({{"local", 1}}, 2);
  for (const Executor executor : executors) {
    Graph g;
    const Output forever =
        while_loop([](const LoopVariables& v) { return v[0] >= 0; },
                   [](const LoopVariables& v) { return v[0] * 1; }, g.constant(std::int64_t{1}),
                   {.max_iterations = std::int64_t{1} << 60});
    const Output other = g.constant(7) + 1;
    Session session(cluster.server("local", 0).target(), g, {.executor = executor});
    BOOST_TEST((test::status_of([&] { session.run(forever, {}, {.timeout_ms = 100}); }).code ==
                Code::deadline_exceeded));
    BOOST_TEST(session.run(other).scalar<std::int32_t>() == 8);
    session.close();
  }
}  // where the cluster ends, and its threads with it

BOOST_AUTO_TEST_SUITE_END()
