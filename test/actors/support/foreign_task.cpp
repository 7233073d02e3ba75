#include <boost/test/unit_test.hpp>

#include "test/actors/support/foreign_task.h"

#include <chrono>
#include <thread>

#include "dataflow/graph/core_ops.h"

namespace actorflow::test {
namespace {

const TaskIdentity chief{{"chief", 0}, 4711};

}  // namespace

bool comes_to_hold(const Server& server, const HeldState& expected) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    if (server.held() == expected) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

ForeignChief::ForeignChief()
    : network_(make_rpc_network(ops(), heap())), mailbox_(std::make_unique<Receiver>(*network_, chief)) {
  ServerOptions options;
  options.cluster = ClusterSpec{{"chief", {mailbox_->address()}}, {"worker", {"127.0.0.1:0"}}};
  options.job = "worker";
  options.heartbeat_timeout_ms = 0;  // the chief says what the test says, and nothing else
  server_ = std::make_unique<Server>(options);
  const std::string address = server_->target().substr(std::string("actorflow://").size());
  link_ = std::make_unique<test::Sender>(*network_, address, chief, TaskName{"worker", 0});
}

std::uint64_t ForeignChief::register_graph(std::uint64_t request, const Graph& graph) {
  send(RegisterGraph{request, graph.def()});
  const auto answer = next<GraphRegistered>();
  BOOST_TEST(answer.request == request);
  BOOST_TEST(answer.status.ok(), answer.status.to_string());
  return answer.handle;
}

StepDone ForeignChief::run(std::uint64_t handle, StepId step) {
  send(RunGraph{handle, step, 0, {}});
  auto done = next<StepDone>();
  BOOST_TEST(done.step == step);
  return done;
}

Output receive(Graph& graph, std::int64_t channel) {
  return graph.add(recv_op(), {},
                   {{"channel", channel},
                    {"peer", chief.name.to_string()},
                    {"dtype", DType::int64},
                    {"shape", Shape{}}});
}

void return_value(Graph& graph, Output value, std::int64_t index) {
  graph.add(retval_op(), {value}, {{"index", index}});
}

}  // namespace actorflow::test
