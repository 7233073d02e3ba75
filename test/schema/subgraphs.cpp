// Conditions and loops on the wire: graphs within graphs, and what is refused of them.
#include "dataflow/graph/subgraph.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph/core_ops.h"
#include "kernels/control/control_flow.h"
#include "kernels/core/kernel.h"
#include "kernels/devices/device.h"
#include "kernels/ops.h"
#include "schema/codec/message_bytes.h"
#include "test/schema/support/tasks.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(subgraphs)

using namespace actorflow;
using namespace actorflow::test;

namespace {

GraphDef arrived(const GraphDef& graph) {
  const auto bytes = encode_message(RegisterGraph{1, graph, false, Executor::lanes});
  const Message message = decode_message(bytes, builtin_ops().registry(), cpu_device().allocator());
  return std::get<RegisterGraph>(message).graph;
}

// cond(x > 0, log(x), x), and a change of its branch "then" on the way.
struct Changed {
  GraphDef graph;

  explicit Changed(const std::function<void(Subgraph&)>& change) {
    Graph g;
    const Output x = g.placeholder(DType::float64, {});
    cond(
        x > 0, [&] { return log(x); }, [&] { return x; });
    graph = g.def();
    SubgraphRef& then = std::get<SubgraphRef>(graph.nodes.back().attrs.at("then"));
    auto changed = std::make_shared<Subgraph>(*then);
    change(*changed);
    then = changed;
  }
};

void expect_refused(const std::function<void(Subgraph&)>& change, const std::string& why) {
  BOOST_CHECK_EXCEPTION(arrived(Changed(change).graph), Error, says(why));
}

}  // namespace

BOOST_AUTO_TEST_CASE(they_arrive_with_all_that_they_say) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {});
  while_loop([](const LoopVariables& v) { return v[0] < 100; },
             [](const LoopVariables& v) {
               return cond(
                   v[0] < 10, [&] { return v[0] * 2; }, [&] { return v[0] + 1; });
             },
             x);
  const Node& sent = g.def().nodes.back();
  const GraphDef graph = arrived(g.def());
  const Node& node = graph.nodes.back();
  BOOST_TEST(node.op == sent.op);
  BOOST_TEST((node.outputs == sent.outputs));
  const auto body = attr<SubgraphRef>(node, "body"), before = attr<SubgraphRef>(sent, "body");
  BOOST_TEST((body->outputs == before->outputs));
  BOOST_TEST_REQUIRE(body->body.size() == before->body.size());
  for (NodeId id = 0; id < body->body.size(); ++id) {
    BOOST_TEST(body->body.node(id).name == before->body.node(id).name);
    BOOST_TEST((body->body.node(id).inputs == before->body.node(id).inputs));
    BOOST_TEST((body->body.node(id).outputs == before->body.node(id).outputs));
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_run_is_refused) {
  expect_refused([](Subgraph& s) { s.outputs[0].node = 77; }, "whose results are its tensors");
  expect_refused([](Subgraph& s) { s.outputs[0].output = 3; }, "whose results are its tensors");
  expect_refused([](Subgraph& s) { s.outputs.clear(); }, "as many results of both branches");
  expect_refused([](Subgraph& s) { s.body.nodes[0].attrs["dtype"] = DType::int64; }, "Log");
  expect_refused([](Subgraph& s) { s.body.nodes[0].attrs["index"] = std::int64_t{5}; }, "in order");
  expect_refused(
      [](Subgraph& s) {
        s.body.nodes[1].op = &placeholder_op();
        s.body.nodes[1].inputs.clear();
        s.body.nodes[1].attrs = {{"dtype", DType::float64}, {"shape", Shape()}};
      },
      "pure computations");
  expect_refused([](Subgraph& s) { s.body.nodes[1].inputs[0].node = 1; }, "not an earlier node");
  expect_refused([](Subgraph& s) { s = {}; }, "inputs");
}

// They count as the graph does, so that what is too much for a message takes the way of large ones.
BOOST_AUTO_TEST_CASE(large_constants_of_a_branch_arrive) {
  Graph g;
  const Output x = g.placeholder(DType::float64, {});
  const Tensor large = counting(13 << 20);  // 52 MiB
  cond(
      x > 0, [&] { return g.constant(large); }, [&] { return g.constant(counting(1)); });
  const auto network = make_rpc_network(builtin_ops().registry(), heap());
  Receiver receiver(*network, task("ps", 0));
  Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
  sender.link->send(RegisterGraph{1, g.def(), false, Executor::lanes});
  const auto message = receiver.messages.take();
  BOOST_REQUIRE(message);
  const auto then = attr<SubgraphRef>(std::get<RegisterGraph>(*message).graph.nodes.back(), "then");
  const auto value = attr<Tensor>(then->body.nodes.back(), "value");
  BOOST_TEST(value.size_bytes() == large.size_bytes());
  BOOST_TEST(sender.down.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_graph_that_no_message_holds_is_answered_and_the_link_stays) {
  Graph g;
  g.placeholder(DType::float64, {});
  GraphDef graph = g.def();
  graph.nodes[0].attrs["note"] = std::string(std::size_t{80} << 20, 'x');
  const auto network = make_rpc_network(builtin_ops().registry(), heap());
  Receiver receiver(*network, task("ps", 0));
  Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
  sender.link->send(RegisterGraph{7, graph, false, Executor::lanes});
  const auto message = receiver.messages.take();
  BOOST_REQUIRE(message);
  const auto& answer = std::get<Undelivered>(*message);
  BOOST_TEST((answer.what == Undelivered::What::graph));
  BOOST_TEST(answer.number == 7u);
  BOOST_TEST(sender.down.size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
