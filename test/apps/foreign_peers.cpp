// Clients and tasks that do not fit to real processes: of another version, with bad graphs, with tensors
// that are too large. They are refused with the reason, and whoever behaves goes on.
#include <capnp/rpc.capnp.h>
#include <capnp/serialize.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstring>
#include <boost/test/unit_test.hpp>

#include "actors/actorflow.h"
#include "test/apps/support/frame_proxy.h"
#include "test/apps/support/trainers.h"
#include "test/schema/support/bad_graph.h"
#include "test/schema/support/raw_client.h"
#include "test/support/ports.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(foreign_peers)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::uint32_t ours = wire::PROTOCOL_VERSION, theirs = ours + 1;

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    BOOST_TEST(text.find(part) != std::string::npos, text << " lacks '" << part << "'");
}

// `actorflow server` as /job:ps/task:0, which takes at most 1 MiB of large tensors.
struct ServerProcess {
  ServerProcess() { BOOST_REQUIRE_MESSAGE(process.prints("listening"), process.output()); }
  // Whatever has happened, it serves a good client, and leaves when it is told to.
  ~ServerProcess() {
    Graph g;
    const Output sum = g.constant(2) + g.constant(3);
    Session session("actorflow://" + address, g);
    BOOST_TEST(session.run(sum).scalar<int>() == 5);
    process.send_signal(SIGTERM);
    BOOST_TEST(process.wait() == 0, process.output());
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string address = free_addresses(1).front();
  Process process{{"actorflow", "server", "--cluster", R"({"ps": [")" + address + R"("]})", "--job",
                   "ps", "--task", "0", "--max-incoming-bytes", "1MiB"}};
};

// The same call with another version, if it says one.
std::string of_their_version(const FrameProxy::Frame& frame) {
  std::vector<capnp::word> words(frame.bytes.size() / sizeof(capnp::word));
  std::memcpy(words.data(), frame.bytes.data(), frame.bytes.size());
  capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), words.size()));
  const auto message = reader.getRoot<capnp::rpc::Message>();
  if (!message.isCall() || message.getCall().getInterfaceId() != capnp::typeId<wire::Task>() ||
      message.getCall().getMethodId() != 0)
    return frame.bytes;
  capnp::MallocMessageBuilder changed;
  changed.setRoot(message);
  changed.getRoot<capnp::rpc::Message>()
      .getCall()
      .getParams()
      .getContent()
      .getAs<wire::Task::ConnectParams>()
      .setProtocolVersion(theirs);
  const auto flat = capnp::messageToFlatArray(changed);
  const auto bytes = flat.asChars();
  return {bytes.begin(), bytes.size()};
}

}  // namespace

BOOST_AUTO_TEST_CASE(version_mismatch_of_a_task_or_a_client_is_refused_by_a_server_and_both_are_named) {
  const ServerProcess server;
  RawClient client(server.address);
  const auto refused = client.connect(theirs);
  BOOST_TEST(refused.getStatus().getCode() == static_cast<int>(Code::failed_precondition));
  expect_parts(refused.getStatus().getMessage().cStr(),
               {"version " + std::to_string(ours) + ",", "version " + std::to_string(theirs)});
  auto request = client.task.masterRequest();
  request.setProtocolVersion(theirs);
  const auto answer = request.send().wait(client.wait_scope());
  BOOST_TEST(!answer.hasMaster());
  expect_parts(answer.getStatus().getMessage().cStr(),
               {"version " + std::to_string(ours) + ",", "version " + std::to_string(theirs)});
}

// To one parameter server all others seem to be of a newer build.
BOOST_AUTO_TEST_CASE(version_mismatch_of_a_whole_job_ends_it_and_names_both) {
  Trainers job(2, 3, {"--train_steps=1000", "--connect_timeout=5"});
  std::map<std::string, std::unique_ptr<FrameProxy>> proxies;
  job.go_by([&](const std::string& address) {
    if (address != job.address("ps", 1)) return address;
    auto& proxy = proxies[address];
    if (!proxy)
      proxy = std::make_unique<FrameProxy>(address, [] {
        return [](const FrameProxy::Frame& frame, const FrameProxy::Send& send) {
          send(frame.is_delivery ? frame.bytes : of_their_version(frame));
        };
      });
    return proxy->address();
  });
  job.start_all();
  Process& chief = job.task("worker", 0);
  BOOST_TEST(chief.wait() == 1, chief.output());
  expect_parts(chief.output(), {"/job:ps/task:1", "version " + std::to_string(ours) + ",",
                                "version " + std::to_string(theirs)});
}

BOOST_AUTO_TEST_CASE(bad_graph_of_a_client_is_refused_with_all_its_mistakes) {
  const ServerProcess server;
  RawClient client(server.address);
  auto request = client.master().createSessionRequest();
  write_bad_graph(request.initGraph());
  const auto answer = request.send().wait(client.wait_scope());
  BOOST_TEST(answer.getStatus().getCode() == static_cast<int>(Code::invalid_argument));
  expect_parts(answer.getStatus().getMessage().cStr(), mistakes_of_bad_graph);
}

BOOST_AUTO_TEST_CASE(oversized_tensor_of_a_client_fails_its_step_and_names_both_sizes) {
  const ServerProcess server;
  Graph g;
  const Output fed = g.placeholder(DType::float32, {1024, 1024}, "fed");
  const Output total = sum(fed);
  Session session("actorflow://" + server.address, g);
  const Status status = status_of([&] {
    session.run(total, {{fed, Tensor::zeros(DType::float32, {1024, 1024})}});
  });
  BOOST_TEST((status.code == Code::resource_exhausted), status.to_string());
  expect_parts(status.message, {"4194304 bytes", "1048576 bytes"});
}

// The weights of the hidden layer are 784 x 512 floats.
BOOST_AUTO_TEST_CASE(oversized_tensor_between_tasks_ends_training_and_names_both_sizes) {
  Trainers job(2, 3, {"--train_steps=1000", "--hidden=512", "--max_incoming_bytes=1MiB"});
  job.start_all();
  Process& chief = job.task("worker", 0);
  BOOST_TEST(chief.wait() == 1, chief.output());
  expect_parts(chief.output(), {"1048576 bytes"});
}

BOOST_AUTO_TEST_SUITE_END()
