#include "dataflow/train/replica_device_setter.h"

#include <boost/test/unit_test.hpp>

#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(replica_device_setter)

using namespace actorflow;
using test::invalid_with;

namespace {

// A variable with a name that begins so.
Variable variable_of(Graph& graph, std::string name, const Shape& shape) {
  name += std::to_string(graph.variables().size());
  return graph.variable(name, graph.constant(Tensor::zeros(DType::float32, shape), name + "/initial"));
}

// The tasks of the variables of a perceptron 784-256-10, in the order of the layers, weights first.
std::vector<std::string> places_of_layers(const PsStrategy& strategy) {
  Graph g;
  std::vector<std::string> places;
  g.on(actorflow::replica_device_setter(2, "ps", "/job:worker/task:0", strategy), [&] {
    g.variable("global_step", g.constant(std::int64_t{0}));
    for (const auto& shape : {Shape{784, 256}, Shape{256}, Shape{256, 10}, Shape{10}})
      places.push_back(variable_of(g, "v", shape).device());
  });
  return places;
}

const std::string ps0 = "/job:ps/task:0", ps1 = "/job:ps/task:1";

}  // namespace

BOOST_AUTO_TEST_CASE(by_turns_all_weights_of_a_perceptron_are_on_one_task) {
  BOOST_TEST(places_of_layers(round_robin(2)) == (std::vector{ps1, ps0, ps1, ps0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(by_bytes_the_weights_of_a_perceptron_are_on_both_tasks) {
  BOOST_TEST(places_of_layers(greedy_by_bytes(2)) == (std::vector{ps1, ps0, ps0, ps0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(of_equal_loads_the_lowest_task_is_taken) {
  Graph g;
  g.on(actorflow::replica_device_setter(3, "ps", "", greedy_by_bytes(3)), [&] {
    for (const int expected : {0, 1, 2, 0})
      BOOST_TEST(variable_of(g, "v", {4}).device() == "/job:ps/task:" + std::to_string(expected));
  });
}

BOOST_AUTO_TEST_CASE(a_users_own_strategy_decides) {
  Graph g;
  const auto by_rank = [](const Node& node) { return node.outputs[0].shape.rank() > 1 ? 2 : 0; };
  g.on(actorflow::replica_device_setter(3, "ps", "", by_rank), [&] {
    BOOST_TEST(variable_of(g, "vector", {4}).device() == "/job:ps/task:0");
    BOOST_TEST(variable_of(g, "matrix", {4, 4}).device() == "/job:ps/task:2");
  });
}

BOOST_AUTO_TEST_CASE(a_strategy_that_names_no_task_of_the_job_is_refused) {
  Graph g;
  const auto wrong = [](const Node&) { return 3; };
  BOOST_CHECK_EXCEPTION(
      g.on(actorflow::replica_device_setter(3, "ps", "", wrong), [&] { variable_of(g, "v", {4}); }),
      Error, invalid_with({"'v0'", "task 3 of 3", "0 to 2"}));
}

BOOST_AUTO_TEST_CASE(only_variables_are_put_on_parameter_servers) {
  Graph g;
  g.on(actorflow::replica_device_setter(2, "ps", "/job:worker/task:3"), [&] {
    const Output one = g.constant(1.0F);
    BOOST_TEST(one.node().device == "/job:worker/task:3");
    const Variable v = g.variable("v", one);
    BOOST_TEST(v.device() == ps0);
    BOOST_TEST(v.initializer().node().device == ps0);
  });
}

BOOST_AUTO_TEST_CASE(what_an_inner_scope_names_is_kept_and_takes_no_turn) {
  Graph g;
  g.on(actorflow::replica_device_setter(2, "ps", "/job:worker/task:1"), [&] {
    const auto inside = [&](const char* device) {
      return g.on(device, [&] { return variable_of(g, "v", {1}).device(); });
    };
    BOOST_TEST(inside("/job:ps/task:1") == ps1);
    BOOST_TEST(inside("/task:1") == ps1);
    BOOST_TEST(inside("/job:worker/task:0") == "/job:worker/task:0");
    BOOST_TEST(inside("/job:worker") == "/job:worker/task:1");
    BOOST_TEST(inside("/job:ps") == ps0);
    BOOST_TEST(inside("/cpu:0") == ps1 + "/device:CPU:0");
    BOOST_TEST(inside("") == ps0);
  });
}

BOOST_AUTO_TEST_CASE(without_parameter_servers_nodes_stay_open) {
  Graph g;
  const Variable v = g.on(actorflow::replica_device_setter(0, "ps", "/job:worker/task:0"),
                          [&] { return g.variable("v", g.constant(1.0)); });
  BOOST_TEST(v.device().empty());
  BOOST_CHECK_EXCEPTION(actorflow::replica_device_setter(-1), Error, invalid_with({"-1"}));
  BOOST_CHECK_EXCEPTION(actorflow::replica_device_setter(1, "ps", "/worker"), Error,
                        invalid_with({"/worker"}));
}

BOOST_AUTO_TEST_CASE(copies_of_a_setter_share_the_turn) {
  Graph g;
  const auto setter = actorflow::replica_device_setter(3);
  for (int i = 0; i < 4; ++i) {
    const Variable v =
        g.on(setter, [&] { return g.variable("v" + std::to_string(i), g.constant(1.0)); });
    BOOST_TEST(v.device() == "/job:ps/task:" + std::to_string(i % 3));
  }
}

BOOST_AUTO_TEST_CASE(strategies_have_names) {
  Graph g;
  const Node node = variable_of(g, "v", {1}).value().node();
  BOOST_TEST(make_ps_strategy("round_robin", 1)(node) == 0);
  BOOST_TEST(make_ps_strategy("greedy", 1)(node) == 0);
  BOOST_CHECK_EXCEPTION(make_ps_strategy("gready", 2), Error,
                        invalid_with({"'gready'", "round_robin or greedy", "did you mean"}));
  BOOST_CHECK_EXCEPTION(round_robin(0), Error, invalid_with({"1 or more", "got 0"}));
}

BOOST_AUTO_TEST_SUITE_END()
