#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <set>

#include "dataflow/graph/core_ops.h"
#include "dataflow/transform/partition.h"
#include "test/dataflow/expect.h"
#include "test/dataflow/tiny_ops.h"

BOOST_AUTO_TEST_SUITE(partition)

using namespace actorflow;
using test::multiply;

namespace {

const TaskName a{"a", 0}, b{"b", 0}, c{"b", 1};

std::string device(const TaskName& task, const char* type = "GPU") {
  return DeviceName{task.job, 0, task.index, type, 0}.to_string();
}

template <class Body>
Output on(Graph& g, const TaskName& task, Body body) {
  return g.on(device(task), body);
}

std::vector<Node> nodes_of(const GraphDef& graph, const OpDef& op) {
  std::vector<Node> found;
  std::ranges::copy_if(graph.nodes, std::back_inserter(found),
                       [&op](const Node& n) { return n.op == &op; });
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_graph_of_one_task_stays_as_it_is) {
  Graph g;
  const Output x = on(g, a, [&] { return g.constant(2.0); });
  const Output y = on(g, a, [&] { return g.after({x}, [&] { return multiply(x, x); }); });
  const auto parts = actorflow::partition(g.def());
  BOOST_TEST(parts.size() == 1U);
  BOOST_TEST(parts.at(a).size() == 2);
  BOOST_TEST((parts.at(a).node(y.edge.node).controls == y.node().controls));
}

BOOST_AUTO_TEST_CASE(one_transfer_serves_all_consumers_of_a_task) {
  Graph g;
  const Output x = on(g, a, [&] { return g.constant(2.0, "x"); });
  const Output y = on(g, b, [&] { return multiply(multiply(x, x), x); });
  on(g, c, [&] { return multiply(x, x); });
  const auto parts = actorflow::partition(g.def());
  const auto sends = nodes_of(parts.at(a), send_op());
  BOOST_TEST(sends.size() == 2U);
  const auto recvs = nodes_of(parts.at(b), recv_op());
  BOOST_TEST_REQUIRE(recvs.size() == 1U);
  BOOST_TEST(nodes_of(parts.at(c), recv_op()).size() == 1U);
  BOOST_TEST(attr<std::string>(recvs[0], "peer") == a.to_string());
  BOOST_TEST(attr<std::string>(sends[0], "peer") == b.to_string());
  BOOST_TEST(attr<std::int64_t>(sends[0], "channel") == attr<std::int64_t>(recvs[0], "channel"));
  BOOST_TEST(attr<std::int64_t>(sends[0], "channel") != attr<std::int64_t>(sends[1], "channel"));
  BOOST_TEST(recvs[0].outputs[0].to_string() == "float64[]");
  BOOST_TEST(recvs[0].device == device(b, "CPU"));
  const GraphDef& part = parts.at(b);
  BOOST_TEST(test::compute(part, {part.find(y.name()), 0}, {{part.find("x/recv"), 3.0}}) == 27.0);
}

BOOST_AUTO_TEST_CASE(each_output_of_a_node_is_a_transfer_of_its_own) {
  Graph g;
  const Output both = on(g, a, [&] { return g.add(test::neighbours_op(), {g.constant(5.0)}); });
  on(g, b, [&] { return multiply(both, both.output(1)); });
  const auto parts = actorflow::partition(g.def());
  const auto sends = nodes_of(parts.at(a), send_op());
  BOOST_TEST_REQUIRE(sends.size() == 2U);
  BOOST_TEST(sends[0].inputs[0].output + sends[1].inputs[0].output == 1);
}

BOOST_AUTO_TEST_CASE(a_control_edge_becomes_a_signal_that_several_share) {
  Graph g;
  const Output first = on(g, a, [&] { return g.constant(1.0, "first"); });
  const auto add = [&] { return g.after({first}, [&] { return g.constant(2.0, "second"); }); };
  on(g, b, add);
  on(g, b, add);
  const auto parts = actorflow::partition(g.def());
  const GraphDef& from = parts.at(a);
  const Node& signal = from.node(from.find("first/done"));
  BOOST_TEST((signal.controls == std::vector<NodeId>{from.find("first")}));
  BOOST_TEST(signal.outputs[0].to_string() == "uint8[]");
  BOOST_TEST(nodes_of(from, send_op()).size() == 1U);
  const GraphDef& to = parts.at(b);
  for (const char* name : {"second", "second_1"})
    BOOST_TEST((to.node(to.find(name)).controls == std::vector<NodeId>{to.find("first/recv")}), name);
}

BOOST_AUTO_TEST_CASE(tensors_may_go_to_and_fro) {
  Graph g;
  Output x = on(g, a, [&] { return g.constant(1.5); });
  const TaskName tasks[] = {b, a, c, b, a};
  for (const auto& task : tasks)
    x = on(g, task, [&] { return g.after({x}, [&] { return multiply(x, x); }); });
  auto parts = actorflow::partition(g.def());
  std::set<std::int64_t> sent, received;
  for (auto& [task, part] : parts) {
    BOOST_CHECK_NO_THROW(infer_graph(part));
    for (const auto& node : nodes_of(part, send_op())) sent.insert(attr<std::int64_t>(node, "channel"));
    for (const auto& node : nodes_of(part, recv_op()))
      received.insert(attr<std::int64_t>(node, "channel"));
  }
  BOOST_TEST(sent.size() == 10U);  // five hops of a tensor and a signal
  BOOST_TEST(*sent.rbegin() == 9);
  BOOST_TEST((sent == received));
}

BOOST_AUTO_TEST_CASE(a_node_without_a_task_is_refused) {
  Graph g;
  g.constant(1.0);
  BOOST_CHECK_EXCEPTION(actorflow::partition(g.def()), Error,
                        test::invalid_with({"does not name a task"}));
}

BOOST_AUTO_TEST_SUITE_END()
