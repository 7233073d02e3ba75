#include "schema/rpc/master_client.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "dataflow/graph/core_ops.h"
#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A master that answers from a thread of its own: with what it was fed, or with its one device.
struct Master {
  ~Master() {
    for (auto& thread : threads) thread.join();
  }

  // What it got, as text in the status' message, and something in every field that the call returns.
  static MasterReply answer(const MasterRequest& request) {
    return std::visit([](const auto& r) { return answer(r); }, request);
  }
  static MasterReply answer(const CreateSession& create) {
    MasterReply reply;
    const auto& o = create.options;
    reply.session = std::to_string(create.graph.size()) + " nodes|" + join(o.device_filters) + "|" +
                    std::to_string(o.isolate) + std::to_string(o.allow_soft_placement) + "|" +
                    std::to_string(o.step_timeout_ms) + "|" + std::to_string(o.cuda_graphs) +
                    std::to_string(o.executor == Executor::node_actors);
    reply.graph_version = 4;
    return reply;
  }
  static MasterReply answer(const ExtendSession& extend) {
    MasterReply reply;
    reply.status.message = extend.session + "|" + extend.nodes.at(0).name + "|" +
                           std::to_string(extend.nodes[0].inputs.at(0).node);
    reply.graph_version = extend.version + 1;
    return reply;
  }
  static MasterReply answer(const RunStep& step) {
    MasterReply reply;
    for (const auto& feed : step.feeds) reply.fetches.push_back(feed.second);
    reply.status.message = step.session + "|" + step.fetches.at(0) + "|" + step.targets.at(0) + "|" +
                           step.feeds.at(0).first + "|" + std::to_string(step.timeout_ms) + "|" +
                           std::to_string(step.epoch);
    if (step.trace) reply.trace.nodes.push_back({"x", "Relu", "/cpu:0", 1, 2, 3, "peer", 4});
    return reply;
  }
  static MasterReply answer(const MakeCallable& make) {
    MasterReply reply;
    reply.status.message =
        make.session + "|" + join(make.feeds) + "|" + join(make.fetches) + "|" + join(make.targets);
    reply.callable = 77;
    return reply;
  }
  static MasterReply answer(const RunCallable& run) {
    MasterReply reply;
    reply.fetches = run.feeds;
    reply.status.message = run.session + "|" + std::to_string(run.callable) + "|" +
                           std::to_string(run.timeout_ms) + "|" + std::to_string(run.epoch);
    if (run.trace) reply.trace.nodes.push_back({"x", "Relu", "/cpu:0", 1, 2, 3});
    return reply;
  }
  static MasterReply answer(const ReleaseCallable& release) {
    return failed(Code::not_found, release.session + "|" + std::to_string(release.callable));
  }
  static MasterReply answer(const CloseSession& close) {
    return failed(Code::not_found, "no session '" + close.session + "'");
  }
  static MasterReply answer(const ListDevices& list) {
    MasterReply reply;
    reply.devices = {{"/job:ps/task:0/device:CPU:0", "CPU", 12, 34}};
    reply.status.message = list.session;
    return reply;
  }
  static MasterReply answer(const DescribePlacement& request) {
    MasterReply reply;
    reply.placement = {request.session, "/cpu:0"};
    return reply;
  }
  static MasterReply answer(const Reset& reset) {
    return failed(Code::ok, join(reset.containers) + "|" + join(reset.device_filters));
  }

  static MasterReply failed(Code code, const std::string& message) {
    MasterReply reply;
    reply.status = {code, message};
    return reply;
  }
  static std::string join(const std::vector<std::string>& texts) {
    std::string joined;
    for (const auto& text : texts) joined += text + ",";
    return joined;
  }

  MasterHandler handler() {
    return [this](MasterRequest request, MasterReplyFn reply) {
      const std::lock_guard lock(mutex);
      threads.emplace_back(
          [this, request = std::move(request), reply = std::move(reply)] { reply(answer(request)); });
    };
  }

  std::mutex mutex;
  std::vector<std::thread> threads;
};

struct Connected {
  Master master;
  std::unique_ptr<Network> network = make_rpc_network(ops(), heap());
  std::optional<Receiver> receiver{std::in_place, *network, task("ps", 0), master.handler()};
  MasterClient client{receiver->address(), heap(), 10'000};
};

RunStep feeding(const std::vector<Tensor>& tensors) {
  RunStep step{"session", {}, {"y:0"}, {"train"}, 1500, 7};
  for (const auto& tensor : tensors) step.feeds.emplace_back("x", tensor);
  return step;
}

MasterReply reply_with(const std::string& session) {
  MasterReply reply;
  reply.session = session;
  return reply;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(master_client, Connected)

BOOST_AUTO_TEST_CASE(every_request_and_reply_keeps_its_fields) {
  Graph graph;
  graph.constant(counting(4));
  graph.constant(counting(1 << 20));
  const auto created = client.call(CreateSession{
      graph.def(), {{"/job:ps", "/gpu:0"}, true, false, 250, false, Executor::node_actors}});
  BOOST_TEST(created.session == "2 nodes|/job:ps,/gpu:0,|10|250|01");
  BOOST_TEST(created.graph_version == 4);
  BOOST_TEST(client.call(CreateSession{graph.def()}).session == "2 nodes||01|0|10");

  const auto reply =
      client.call(feeding({Tensor::scalar(3.5f), Tensor::of<std::string>({1}, {"text"})}));
  BOOST_TEST(reply.status.ok());
  BOOST_TEST(reply.status.message == "session|y:0|train|x|1500|7");
  BOOST_REQUIRE(reply.fetches.size() == 2u);
  BOOST_TEST(reply.fetches[0].scalar<float>() == 3.5f);
  BOOST_TEST(reply.fetches[1].scalar<std::string>() == "text");
  BOOST_TEST(reply.trace.nodes.empty());

  const auto closed = client.call(CloseSession{"s"}).status;
  BOOST_TEST((closed.code == Code::not_found));
  BOOST_TEST(closed.message == "no session 's'");
  const auto listed = client.call(ListDevices{"s"});
  BOOST_TEST(listed.status.message == "s");
  BOOST_REQUIRE(listed.devices.size() == 1u);
  BOOST_TEST((listed.devices[0] == DeviceInfo{"/job:ps/task:0/device:CPU:0", "CPU", 12, 34}));
  BOOST_TEST((client.call(DescribePlacement{"s"}).placement == std::vector<std::string>{"s", "/cpu:0"}));
  BOOST_TEST(client.call(Reset{{"", "a"}, {"/job:ps"}}).status.message == ",a,|/job:ps,");
}

BOOST_AUTO_TEST_CASE(nodes_of_an_extension_keep_what_they_refer_to) {
  Node node;
  node.name = "more";
  node.op = &identity_op();
  node.inputs = {{123, 0}};  // a node that the client need not know
  const auto reply = client.call(ExtendSession{"s", {node}, 8});
  BOOST_TEST(reply.status.message == "s|more|123");
  BOOST_TEST(reply.graph_version == 9);
}

BOOST_AUTO_TEST_CASE(a_callable_is_made_run_and_released) {
  const auto made = client.call(MakeCallable{"s", {"x"}, {"y:1", "z"}, {"t"}});
  BOOST_TEST(made.status.message == "s|x,|y:1,z,|t,");
  BOOST_TEST(made.callable == 77u);
  const auto run = client.call(RunCallable{"s", 77, {Tensor::scalar(2)}, 40, 5, true});
  BOOST_TEST(run.status.message == "s|77|40|5");
  BOOST_TEST(run.fetches.at(0).scalar<int>() == 2);
  BOOST_TEST(run.trace.nodes.size() == 1u);
  BOOST_TEST(client.call(ReleaseCallable{"s", 77}).status.message == "s|77");
}

BOOST_AUTO_TEST_CASE(the_trace_of_a_step_comes_back) {
  RunStep step = feeding({Tensor::scalar(1.0f)});
  step.trace = true;
  const auto reply = client.call(step);
  BOOST_REQUIRE(reply.trace.nodes.size() == 1u);
  BOOST_TEST(reply.trace.nodes[0].node == "x");
  BOOST_TEST(reply.trace.nodes[0].channel == 4);
}

BOOST_AUTO_TEST_CASE(feeds_and_fetches_of_100_MiB_go_through) {
  const Tensor tensor = counting(26 << 20);
  const auto reply =
      client.call(feeding({tensor, Tensor::scalar(1.0f), tensor.reshaped({2, 13 << 20})}));
  BOOST_REQUIRE(reply.fetches.size() == 3u);
  BOOST_TEST(identical(reply.fetches[0], tensor));
  BOOST_TEST(identical(reply.fetches[2], tensor.reshaped({2, 13 << 20})));
}

BOOST_AUTO_TEST_CASE(many_fetches_that_together_are_large_go_through) {
  const std::vector<Tensor> tensors(300, counting(1 << 17));
  const auto reply = client.call(feeding(tensors));
  BOOST_REQUIRE(reply.fetches.size() == tensors.size());
  BOOST_TEST(identical(reply.fetches.back(), tensors.back()));
}

BOOST_AUTO_TEST_CASE(calls_of_several_threads_do_not_mix) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto reply = client.call(feeding({Tensor::scalar(100 * t + i)}));
        if (reply.fetches.size() != 1 || reply.fetches[0].scalar<std::int32_t>() != 100 * t + i) ++wrong;
      }
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(a_request_that_cannot_be_sent_is_a_reply_that_says_why) {
  // 100 MiB of names are over the limit of a message, and no tensor that could go ahead of it.
  RunStep step = feeding({Tensor::scalar(1.0f)});
  step.fetches.push_back(std::string(100 << 20, 'x'));
  const auto status = client.call(step).status;
  BOOST_TEST((status.code == Code::resource_exhausted));
  BOOST_TEST(status.message.find("67108864") != std::string::npos, status.message);
  BOOST_TEST(client.call(ListDevices{}).status.ok());
}

// Of another kind than our own errors: a single text of 512 MiB, which Cap'n Proto refuses.
BOOST_AUTO_TEST_CASE(what_fails_while_a_request_is_written_is_no_loss_of_the_client) {
  RunStep step = feeding({Tensor::scalar(1.0f)});
  step.fetches.push_back(std::string(std::size_t{1} << 29, 'x'));
  const auto status = client.call(step).status;
  BOOST_TEST(!status.ok());
  BOOST_TEST((status.code != Code::unavailable));
  BOOST_TEST(status.message.find("closed") == std::string::npos, status.message);
  BOOST_TEST(client.call(ListDevices{}).status.ok());
}

BOOST_AUTO_TEST_CASE(a_server_that_leaves_is_unavailable_and_named) {
  const std::string address = receiver->address();
  receiver.reset();
  for (int i = 0; i < 2; ++i) {
    const auto status = client.call(ListDevices{}).status;
    BOOST_TEST((status.code == Code::unavailable));
    BOOST_TEST(status.message.find(address) != std::string::npos, status.message);
  }
}

BOOST_AUTO_TEST_CASE(a_request_under_way_when_the_server_leaves_is_unavailable) {
  Mailbox<MasterReplyFn> asked;
  auto silent = std::make_unique<Receiver>(
      *network, task("ps", 1),
      [&](const MasterRequest&, MasterReplyFn reply) { asked.put(std::move(reply)); });
  MasterClient patient(silent->address(), heap(), 10'000);
  Mailbox<Status> answered;
  std::thread caller([&] { answered.put(patient.call(ListDevices{}).status); });
  auto reply = asked.take();
  BOOST_REQUIRE(reply);
  silent.reset();
  BOOST_TEST((answered.take()->code == Code::unavailable));
  caller.join();
  (*reply)({});  // too late, and harmless
}

BOOST_AUTO_TEST_CASE(a_session_that_is_made_for_a_client_that_has_left_is_closed) {
  Mailbox<MasterReplyFn> asked;
  Mailbox<std::string> closed;
  const Receiver slow(*network, task("ps", 1), [&](const MasterRequest& request, MasterReplyFn reply) {
    if (const auto* close = std::get_if<CloseSession>(&request)) return closed.put(close->session);
    asked.put(std::move(reply));
  });
  auto leaving = std::make_unique<MasterClient>(slow.address(), heap(), 10'000);
  Mailbox<std::string> made;
  const auto create = [&made, client = leaving.get()] {
    made.put(client->call(CreateSession{}).session);
  };
  std::jthread first(create);
  asked.take().value()(reply_with("taken"));
  BOOST_TEST(made.take().value() == "taken");
  std::jthread second(create);
  MasterReplyFn reply = asked.take().value();
  leaving.reset();
  BOOST_TEST(closed.take().value() == "taken");  // the server knows that its client has left
  std::exchange(reply, {})(reply_with("late"));
  BOOST_TEST(closed.take().value() == "late");
}

BOOST_AUTO_TEST_CASE(a_handler_that_forgets_its_reply_is_an_internal_error) {
  const Receiver forgetful(*network, task("ps", 1), [](const MasterRequest&, const MasterReplyFn&) {});
  MasterClient asking(forgetful.address(), heap(), 10'000);
  BOOST_TEST((asking.call(ListDevices{}).status.code == Code::internal));
}

BOOST_AUTO_TEST_CASE(it_waits_for_a_server_that_starts_later) {
  const std::string address = receiver->address();
  receiver.reset();
  Mailbox<bool> connected;
  std::thread connecting([&] {
    const MasterClient late(address, heap(), 60'000);
    connected.put(true);
  });
  const Receiver started(*network, task("ps", 0), {}, address);
  BOOST_TEST(connected.take().has_value());
  connecting.join();
}

BOOST_AUTO_TEST_CASE(nobody_there_is_unavailable_after_the_timeout_and_says_whom_it_waited_for) {
  const std::string address = receiver->address();
  receiver.reset();
  const auto names_address = [&](const Error& error) {
    return error.code() == Code::unavailable &&
           std::string(error.what()).find(address + " within 150 ms") != std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(MasterClient(address, heap(), 150), Error, names_address);
}

BOOST_AUTO_TEST_CASE(an_address_that_makes_no_sense_is_invalid) {
  const auto is_invalid = [](const Error& error) { return error.code() == Code::invalid_argument; };
  BOOST_CHECK_EXCEPTION(MasterClient("nonsense", heap(), 10), Error, is_invalid);
}

BOOST_AUTO_TEST_SUITE_END()
