#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/train/replicate.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(replicate)

using namespace actorflow;
using test::invalid_with;
using test::multiply;

namespace {

// Two variables and the square of their product, as a worker of a cluster with two ps tasks has it.
struct Model {
  Graph graph;
  Variable a, b, step;
  Output loss;

  Model() {
    graph.on(actorflow::replica_device_setter(2, "ps", "/job:worker/task:1"), [this] {
      step = global_step(graph);
      a = graph.variable("a", graph.constant(2.0));
      b = graph.variable("b", graph.constant(3.0));
      const Output product = multiply(a, b);
      loss = multiply(product, product);
    });
  }

  std::vector<Node> nodes(const OpDef& op) const {
    std::vector<Node> found;
    for (const auto& node : graph.def().nodes)
      if (node.op == &op) found.push_back(node);
    return found;
  }
  const Node& node(NodeId id) const { return graph.def().node(id); }
};

Output product_of_three(Graph& g, std::vector<Variable>& variables) {
  Output product = g.constant(1.0);
  for (const char* name : {"a", "b", "c"}) {
    variables.push_back(g.variable(name, g.constant(2.0)));
    product = multiply(product, variables.back());
  }
  return product;
}

// What the task of the global step does when a replica's step has ended.
const Node& end_of_step(const Graph& g, const Strategy& strategy) {
  const OpDef& last = is_synchronous(strategy) ? take_token_op() : count_step_op();
  const auto found = std::ranges::find_if(
      g.def().nodes, [&](const Node& node) { return node.op == &last && !node.controls.empty(); });
  BOOST_TEST_REQUIRE((found != g.def().nodes.end()));
  return *found;
}

const Replication synchronous{
    .replica = 1, .replicas = 3, .strategy = Synchronous{.replicas_to_aggregate = 2}};

}  // namespace

BOOST_AUTO_TEST_CASE(variables_go_round_the_parameter_servers) {
  const Model m;
  BOOST_TEST(m.step.device() == "/job:ps/task:0");
  BOOST_TEST(m.a.device() == "/job:ps/task:1");
  BOOST_TEST(m.b.device() == "/job:ps/task:0");
  BOOST_TEST(m.a.initializer().node().device == "/job:ps/task:1");
  BOOST_TEST(m.loss.node().device == "/job:worker/task:1");
}

// The task of the global step hears from each replica once, not from each parameter server for each
// replica.
BOOST_AUTO_TEST_CASE(updates_on_many_tasks_are_gathered_by_the_replica) {
  for (const Strategy& strategy : {Strategy(Asynchronous{}), Strategy(Synchronous{})}) {
    Graph g;
    TrainOp train;
    g.on(actorflow::replica_device_setter(4, "ps", "/job:worker/task:1"), [&] {
      const Variable step = global_step(g);
      std::vector<Variable> variables;
      const Output loss = product_of_three(g, variables);
      train =
          minimize(g, loss, variables, step, Sgd{}, {.replica = 1, .replicas = 2, .strategy = strategy});
    });
    const Node& ended = end_of_step(g, strategy);
    BOOST_TEST(ended.device == "/job:ps/task:0");
    BOOST_TEST_REQUIRE(ended.controls.size() == 1U);
    const Node& gathered = g.def().node(ended.controls[0]);
    BOOST_TEST(gathered.device == "/job:worker/task:1");
    BOOST_TEST(gathered.controls.size() == 3U);
  }
}

// Each of its updates would be a message to the task of the global step.
BOOST_AUTO_TEST_CASE(a_second_server_reports_once_however_many_variables_it_has) {
  for (const Strategy& strategy : {Strategy(Asynchronous{}), Strategy(Synchronous{})}) {
    Graph g;
    g.on(actorflow::replica_device_setter(2, "ps", "/job:worker/task:1"), [&] {
      std::vector<Variable> variables;
      const Variable step = global_step(g);
      const Output loss = product_of_three(g, variables);
      minimize(g, loss, variables, step, Sgd{}, {.replica = 1, .replicas = 2, .strategy = strategy});
    });
    const Node& ended = end_of_step(g, strategy);
    int from_second = 0;
    for (const NodeId before : ended.controls)
      from_second += g.def().node(before).device.starts_with("/job:ps/task:1");
    BOOST_TEST(from_second == (is_synchronous(strategy) ? 0 : 1));
  }
}

// Nobody gets a token before each variable has its gradients; but who hands in several in a step must
// know that each has come.
BOOST_AUTO_TEST_CASE(gradients_on_the_task_of_the_global_step_ask_for_the_token) {
  for (const int to_aggregate : {1, 2, 3}) {
    const bool once = to_aggregate <= 2;
    Graph g;
    TrainOp train;
    g.on(actorflow::replica_device_setter(3, "ps", "/job:worker/task:1"), [&] {
      std::vector<Variable> variables;
      const Variable step = global_step(g);
      const Output loss = product_of_three(g, variables);
      train = minimize(g, loss, variables, step, Sgd{},
                       {.replica = 1,
                        .replicas = 2,
                        .strategy = Synchronous{.replicas_to_aggregate = to_aggregate,
                                                .initial_tokens = once ? 0 : 1}});
    });
    const auto accumulates = [&g](NodeId id) {
      return g.def().node(id).op == &accumulate_gradient_op();
    };
    const Node& end = train.step.node();
    const Node& token = g.def().node(end.inputs.at(0).node);
    const Node& asks = g.def().node(token.controls.at(0));
    BOOST_TEST_REQUIRE(token.controls.size() == 1U);
    BOOST_TEST(asks.device == (once ? "/job:ps/task:0" : "/job:worker/task:1"), to_aggregate);
    BOOST_TEST(accumulates(token.controls[0]) == once, to_aggregate);
    BOOST_TEST(std::ranges::count_if(asks.controls, accumulates) == (once ? 0 : 3), to_aggregate);
    BOOST_TEST(std::ranges::count_if(end.controls, accumulates) == (once ? 2 : 0), to_aggregate);
  }
}

// The task of the global step has no variable of the loss.
BOOST_AUTO_TEST_CASE(a_replica_asks_for_its_token_when_it_has_sent_its_gradients_elsewhere) {
  Model m;
  const TrainOp train = minimize(m.graph, m.loss, {m.a}, m.step, Sgd{}, synchronous);
  const Node& token = m.node(train.step.node().inputs.at(0).node);
  BOOST_TEST_REQUIRE(token.controls.size() == 1U);
  BOOST_TEST(m.node(token.controls[0]).device == "/job:worker/task:1");
  const Node accumulated = m.nodes(accumulate_gradient_op()).at(0);
  BOOST_TEST(accumulated.device == "/job:ps/task:1");
  BOOST_TEST((m.node(token.controls[0]).controls == std::vector<NodeId>{accumulated.inputs.at(0).node}));
}

// One message in place of two for each task and step.
BOOST_AUTO_TEST_CASE(a_replica_that_contributes_to_a_step_once_sends_no_serial) {
  for (const bool once : {true, false}) {
    Model m;
    minimize(m.graph, m.loss, {m.a, m.b}, m.step, Sgd{},
             {.replica = 1,
              .replicas = once ? 3 : 2,
              .strategy =
                  Synchronous{.replicas_to_aggregate = once ? 2 : 3, .initial_tokens = once ? 0 : 1}});
    for (const Node& accumulated : m.nodes(accumulate_gradient_op())) {
      const Node& serial = m.node(accumulated.inputs.at(2).node);
      const std::string task = once ? accumulated.device : "/job:worker/task:1";
      BOOST_TEST(serial.device.starts_with(task), once);
      if (once) BOOST_TEST(attr<Tensor>(serial, "value").scalar<std::int64_t>() == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_global_step_is_made_once) {
  Graph g;
  const Variable step = global_step(g);
  BOOST_TEST(step.type().to_string() == "int64[]");
  BOOST_TEST((global_step(g).value().edge == step.value().edge));
  BOOST_TEST(g.variables().size() == 1U);
}

BOOST_AUTO_TEST_CASE(asynchronous_updates_are_beside_their_variables) {
  Model m;
  const TrainOp train = minimize(m.graph, m.loss, {m.a, m.b}, m.step, Momentum{0.5, 0.25});
  const auto updates = m.nodes(apply_gradient_op());
  BOOST_TEST_REQUIRE(updates.size() == 2U);
  BOOST_TEST(updates[0].device == m.a.device());
  BOOST_TEST(updates[1].device == m.b.device());
  BOOST_TEST(attr<std::string>(updates[0], "variable") == "a");
  BOOST_TEST(attr<std::string>(updates[0], "optimizer") == "momentum");
  BOOST_TEST(
      attr<std::vector<double>>(updates[0], "hyperparameters") == (std::vector<double>{0.5, 0.25}),
      boost::test_tools::per_element());
  const std::map<NodeId, double> at = {{m.a.value().edge.node, 2.0}, {m.b.value().edge.node, 3.0}};
  BOOST_TEST(test::compute(m.graph.def(), updates[0].inputs[0], at) == 36.0);  // 2 a b^2
  BOOST_TEST(!train.local_init);
}

BOOST_AUTO_TEST_CASE(a_sparse_gradient_goes_to_its_variable_as_rows) {
  for (const Strategy& strategy : {Strategy(Asynchronous{}), Strategy(Synchronous{})}) {
    Graph g;
    const Variable step = g.on("/job:ps/task:0", [&] { return global_step(g); });
    const Variable table = g.variable("table", g.constant(Tensor::zeros(DType::float64, {5})));
    const Output ids = g.placeholder(DType::int64, {-1});
    const Output rate = g.constant(0.5);
    minimize(g, test::total(test::gather(table, ids)), {table}, step, Sgd{}, {.strategy = strategy},
             rate);
    const OpDef& op =
        is_synchronous(strategy) ? accumulate_sparse_gradient_op() : apply_sparse_gradient_op();
    const auto update = std::ranges::find(g.def().nodes, &op, &Node::op);
    BOOST_TEST_REQUIRE((update != g.def().nodes.end()));
    const std::size_t rows =
        is_synchronous(strategy) ? 2 : 1;  // behind the local step and serial, or the serial
    BOOST_TEST_REQUIRE(update->inputs.size() == rows + 3);
    BOOST_TEST((update->inputs[rows + 1] == ids.edge));
    BOOST_TEST((update->inputs[rows + 2] == rate.edge));
    for (const OpDef* dense : {&apply_gradient_op(), &accumulate_gradient_op()})
      BOOST_TEST((std::ranges::find(g.def().nodes, dense, &Node::op) == g.def().nodes.end()));
  }
}

BOOST_AUTO_TEST_CASE(an_asynchronous_step_is_counted_after_its_updates) {
  Model m;
  const Output step = minimize(m.graph, m.loss, {m.a, m.b}, m.step, Sgd{});
  BOOST_TEST(step.node().op == &count_step_op());
  BOOST_TEST(step.node().device == m.step.device());
  BOOST_TEST_REQUIRE(step.node().inputs.size() == 2U);
  BOOST_TEST((step.node().inputs[0] == m.step.value().edge));
  BOOST_TEST_REQUIRE(step.node().controls.size() == 2U);
  for (auto control : step.node().controls) BOOST_TEST(m.node(control).op == &apply_gradient_op());
}

// So that no other task is fed, which would have to wait for the client with every step.
BOOST_AUTO_TEST_CASE(asynchronous_updates_have_their_serial_from_the_replica) {
  Model m;
  const TrainOp train = minimize(m.graph, m.loss, {m.a, m.b}, m.step, Sgd{});
  BOOST_TEST_REQUIRE(train.serials.size() == 1U);
  const auto device = DeviceName::parse(train.serials[0].node().device);
  BOOST_TEST(task_part(device).to_string() == "/job:worker/task:1");
  BOOST_TEST(device.type.value_or("") == "CPU");
  for (const auto& update : m.nodes(apply_gradient_op())) {
    const Node& sent = m.node(update.inputs[1].node);
    BOOST_TEST((sent.inputs[0] == train.serials[0].edge));
    BOOST_TEST(sent.controls.size() == 1U);  // leaves with the first gradient
  }
}

BOOST_AUTO_TEST_CASE(serials_of_two_train_ops_are_others) {
  Model m;
  minimize(m.graph, m.loss, {m.a}, m.step, Sgd{});
  minimize(m.graph, m.loss, {m.a}, m.step, Sgd{});
  const auto updates = m.nodes(apply_gradient_op());
  BOOST_TEST(attr<std::string>(updates[0], "train_op") != attr<std::string>(updates[1], "train_op"));
}

BOOST_AUTO_TEST_CASE(synchronous_gradients_carry_the_local_step_of_the_replica) {
  Model m;
  minimize(m.graph, m.loss, {m.a, m.b}, m.step, Sgd{}, synchronous);
  const auto accumulated = m.nodes(accumulate_gradient_op());
  BOOST_TEST_REQUIRE(accumulated.size() == 2U);
  BOOST_TEST(accumulated[0].device == m.a.device());
  BOOST_TEST(attr<std::string>(accumulated[0], "coordinator") == "/job:ps/task:0");
  BOOST_TEST(attr<std::string>(accumulated[0], "global_step") == "global_step");
  BOOST_TEST(attr<std::int64_t>(accumulated[0], "replica") == 1);
  BOOST_TEST(attr<std::int64_t>(accumulated[0], "replicas_to_aggregate") == 2);
  const Node& sent = m.node(accumulated[0].inputs[1].node);
  BOOST_TEST(sent.controls.size() == 1U);  // leaves with the first gradient
  const Node& local = m.node(sent.inputs[0].node);
  BOOST_TEST(attr<std::string>(local, "variable") == "local_step/1");
  BOOST_TEST(local.device == "/job:worker/task:1");
}

BOOST_AUTO_TEST_CASE(a_synchronous_step_ends_when_the_token_is_the_local_step) {
  Model m;
  const TrainOp train = minimize(m.graph, m.loss, {m.a, m.b}, m.step, Sgd{}, synchronous);
  const Node& end = train.step.node();
  const Node& token = m.node(end.inputs.at(0).node);
  BOOST_TEST(token.op == &take_token_op());
  BOOST_TEST(token.device == m.step.device());
  BOOST_TEST(attr<std::int64_t>(token, "accumulators") == 2);
  BOOST_TEST(token.controls.size() == 1U);  // the gradient on its own task
  const Node& advance = m.node(end.controls.at(0));
  BOOST_TEST(advance.op == &assign_variable_op());
  BOOST_TEST(attr<std::string>(advance, "variable") == "local_step/1");
  BOOST_TEST((advance.inputs[0] == end.inputs[0]));
}

BOOST_AUTO_TEST_CASE(a_replica_becomes_current_by_asking_for_its_first_token) {
  Model m;
  const TrainOp train = minimize(m.graph, m.loss, {m.a, m.b}, m.step, Sgd{}, synchronous);
  const Node& init = train.local_init.node();
  BOOST_TEST(attr<std::string>(init, "variable") == "local_step/1");
  const Node& token = m.node(init.inputs.at(0).node);
  BOOST_TEST(token.op == &take_token_op());
  BOOST_TEST(attr<Tensor>(m.node(token.inputs.at(0).node), "value").scalar<std::int64_t>() == -1);
  BOOST_TEST(token.controls.empty());
}

BOOST_AUTO_TEST_CASE(a_learning_rate_of_the_graph_travels_with_each_gradient) {
  for (const auto& replication : {Replication{}, synchronous}) {
    Model m;
    const Output rate = m.graph.constant(0.5);
    apply_gradients(m.graph, compute_gradients(m.loss, {m.a, m.b}), m.step, Sgd{}, replication, rate);
    const auto updates =
        m.nodes(is_synchronous(replication.strategy) ? accumulate_gradient_op() : apply_gradient_op());
    BOOST_TEST_REQUIRE(updates.size() == 2U);
    for (const auto& update : updates) BOOST_TEST((update.inputs.back() == rate.edge));
  }
}

BOOST_AUTO_TEST_CASE(a_transformation_that_returns_other_gradients_is_refused) {
  const auto with = [](const GradientTransform& transform) {
    Model m;
    minimize(m.graph, m.loss, {m.a, m.b}, m.step, Sgd{}, {.transform = transform});
  };
  with([](auto all) { return all; });
  BOOST_CHECK_EXCEPTION(with([](auto all) {
                          all.pop_back();
                          return all;
                        }),
                        Error, invalid_with({"returned 1 of 2 gradients"}));
  BOOST_CHECK_EXCEPTION(with([](auto all) {
                          std::swap(all[0], all[1]);
                          return all;
                        }),
                        Error, invalid_with({"of variable 'a' is returned for variable 'b'"}));
  BOOST_CHECK_EXCEPTION(with([](auto all) {
                          all[0].gradient = {};
                          return all;
                        }),
                        Error, invalid_with({"the transformed gradient of variable 'a'"}));
  Graph other;
  BOOST_CHECK_THROW(with([&](auto all) {
                      all[0].gradient = other.constant(1.0);
                      return all;
                    }),
                    Error);
}

BOOST_AUTO_TEST_CASE(variables_that_the_loss_does_not_depend_on_are_left_alone) {
  Model m;
  const Variable other = m.graph.variable("other", m.graph.constant(1.0));
  minimize(m.graph, m.loss, {m.a, other, m.step}, m.step, Sgd{}, synchronous);
  BOOST_TEST(m.nodes(accumulate_gradient_op()).size() == 1U);
  BOOST_TEST(attr<std::int64_t>(m.nodes(take_token_op()).at(0), "accumulators") == 1);
  BOOST_CHECK_EXCEPTION(minimize(m.graph, m.loss, {other}, m.step, Sgd{}), Error,
                        invalid_with({"depends on none of the 1 variables"}));
}

// The parameter servers would ask their own tasks for the step, where nobody keeps it.
BOOST_AUTO_TEST_CASE(a_global_step_that_names_no_task_is_refused_where_variables_name_one) {
  Model m;
  const Variable nowhere = m.graph.variable("nowhere", m.graph.constant(std::int64_t{0}));
  BOOST_CHECK_EXCEPTION(minimize(m.graph, m.loss, {m.a}, nowhere, Sgd{}, synchronous), Error,
                        invalid_with({"variable 'a' is on /job:ps/task:1", "'nowhere' names no task"}));
  minimize(m.graph, m.loss, {m.b}, nowhere, Sgd{});
}

BOOST_AUTO_TEST_CASE(senseless_replications_are_refused) {
  Model m;
  const auto with = [&m](const Replication& r) { minimize(m.graph, m.loss, {m.a}, m.step, Sgd{}, r); };
  BOOST_CHECK_EXCEPTION(with({.replica = 3, .replicas = 3}), Error,
                        invalid_with({"replica 3", "3 replicas"}));
  BOOST_CHECK_EXCEPTION(with({.strategy = Synchronous{.replicas_to_aggregate = -1}}), Error,
                        invalid_with({"-1"}));
  BOOST_CHECK_EXCEPTION(with({.strategy = BoundedStaleness{-2}}), Error,
                        invalid_with({"staleness", "-2"}));
  BOOST_CHECK_EXCEPTION(with({.replicas = 1, .strategy = Synchronous{.replicas_to_aggregate = 3}}),
                        Error, invalid_with({"at least 2 initial_tokens"}));
}

BOOST_AUTO_TEST_SUITE_END()
