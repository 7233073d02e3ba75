// The nodes of replicas that step alone and agree now and then.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>

#include "dataflow/ops/collective_ops.h"
#include "dataflow/ops/replicated_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replicate.h"
#include "dataflow/transform/optimise.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(local_training)

using namespace actorflow;

namespace {

// Two variables of which one has row-sparse gradients.
struct Model {
  explicit Model(const AllReduce& strategy) {
    graph.on("/job:worker/task:1", [&] {
      const Variable step = global_step(graph);
      const Variable a = graph.variable("a", graph.constant(2.0));
      const Variable table = graph.variable("table", graph.constant(Tensor::zeros(DType::float64, {5})));
      const Output ids = graph.placeholder(DType::int64, {-1});
      const Output loss = test::multiply(test::total(test::gather(table, ids)), a);
      train = minimize(graph, loss, {a, table}, step, Sgd{},
                       {.replica = 1, .replicas = 2, .strategy = strategy});
    });
  }

  // The ops of what a node needs.
  std::set<const OpDef*> ops_of(const Output& node) const {
    const auto needed = needed_by(graph.def(), {node.edge.node});
    std::set<const OpDef*> ops;
    for (NodeId id = 0; id < graph.def().size(); ++id)
      if (needed[static_cast<std::size_t>(id)]) ops.insert(graph.def().node(id).op);
    return ops;
  }

  Graph graph;
  TrainOp train;
};

AllReduce of_steps(int steps) {
  AllReduce strategy{.tasks = {"/job:worker/task:0", "/job:worker/task:1"}};
  strategy.local_steps = steps;
  return strategy;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_step_speaks_with_nobody_and_keeps_rows_sparse) {
  const Model m(of_steps(3));
  const auto step = m.ops_of(m.train.step), agree = m.ops_of(m.train.agree);
  BOOST_TEST(!step.contains(&all_reduce_op()));
  BOOST_TEST(step.contains(&apply_sparse_gradient_op()));
  BOOST_TEST(agree.contains(&all_reduce_op()));
  BOOST_TEST(std::ranges::includes(agree, step), "an agreement is of what the step has left");
  BOOST_TEST(m.train.serials.empty());
  BOOST_TEST(m.train.gradient_counts.empty());
}

BOOST_AUTO_TEST_CASE(with_one_step_gradients_are_reduced) {
  const Model m(of_steps(1));
  BOOST_TEST(!m.train.agree);
  BOOST_TEST(m.ops_of(m.train.step).contains(&all_reduce_op()));
}

BOOST_AUTO_TEST_CASE(each_variable_takes_what_was_agreed_on) {
  const Model m(of_steps(2));
  const auto agreed = agreed_variables(m.graph.def());
  BOOST_TEST_REQUIRE(agreed.size() == 2U);
  BOOST_TEST(agreed[0].variable == "a");
  BOOST_TEST(agreed[1].variable == "table");
  BOOST_TEST(agreed[0].agreed == "agreement/a");
}

BOOST_AUTO_TEST_CASE(variables_of_containers_have_their_own) {
  Graph graph;
  graph.on("/job:worker/task:1", [&] {
    const auto w_in = [&](const char* container) {
      return graph.container(container, [&] { return graph.variable("w", graph.constant(2.0)); });
    };
    const Variable a = w_in("a"), b = w_in("b");
    minimize(graph, test::multiply(a.value(), b.value()), {a, b}, global_step(graph), Sgd{},
             {.replica = 1, .replicas = 2, .strategy = of_steps(3)});
  });
  const auto agreed = agreed_variables(graph.def());
  BOOST_TEST_REQUIRE(agreed.size() == 2U);
  BOOST_TEST(agreed[0].agreed == "a|agreement/w");
  BOOST_TEST(agreed[1].agreed == "b|agreement/w");
}

BOOST_AUTO_TEST_CASE(replicas_agree_after_rounds_and_after_the_last_step) {
  const AllReduce strategy = of_steps(3);
  for (const int step : {3, 6, 7}) BOOST_TEST(is_agreement(strategy, step, 7), step);
  for (const int step : {1, 2, 4, 5}) BOOST_TEST(!is_agreement(strategy, step, 7), step);
}

BOOST_AUTO_TEST_CASE(options_without_sense_are_refused) {
  AllReduce sharded = of_steps(2), still = of_steps(2), for_ever = of_steps(2);
  sharded.sharded_optimizer = true;
  still.outer.learning_rate = 0;
  for_ever.outer.momentum = 1;
  for (const auto& strategy : {of_steps(0), sharded, still, for_ever})
    BOOST_CHECK_EXCEPTION(Model{strategy}, Error,
                          [](const Error& e) { return e.code() == Code::invalid_argument; });
}

BOOST_AUTO_TEST_SUITE_END()
