#include "schema/master_client.h"

#include <boost/test/unit_test.hpp>
#include <thread>

#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// A master that answers from a thread of its own: with what it was fed, or with its one device.
struct Master {
  ~Master() {
    for (auto& thread : threads) thread.join();
  }

  MasterReply answer(const MasterRequest& request) {
    if (const auto* create = std::get_if<CreateSession>(&request))
      return {{}, "session of " + std::to_string(create->graph.size()) + " nodes", {}, {}};
    if (const auto* close = std::get_if<CloseSession>(&request))
      return {{Code::not_found, "no session '" + close->session + "'"}, {}, {}, {}};
    if (std::holds_alternative<ListDevices>(request))
      return {{}, {}, {}, {"/job:ps/task:0/device:CPU:0"}};
    const auto& step = std::get<RunStep>(request);
    MasterReply reply;
    for (const auto& feed : step.feeds) reply.fetches.push_back(feed.second);
    reply.status.message = step.session + "|" + step.fetches.at(0) + "|" + step.targets.at(0) + "|" +
                           step.feeds.at(0).first + "|" + std::to_string(step.timeout_ms);
    return reply;
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
  RunStep step{"session", {}, {"y:0"}, {"train"}, 1500};
  for (const auto& tensor : tensors) step.feeds.emplace_back("x", tensor);
  return step;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(master_client, Connected)

BOOST_AUTO_TEST_CASE(every_request_and_reply_keeps_its_fields) {
  Graph graph;
  graph.constant(counting(4));
  graph.constant(counting(1 << 20));
  BOOST_TEST(client.call(CreateSession{graph.def()}).session == "session of 2 nodes");
  const auto closed = client.call(CloseSession{"s"}).status;
  BOOST_TEST((closed.code == Code::not_found));
  BOOST_TEST(closed.message == "no session 's'");
  BOOST_TEST(
      client.call(ListDevices{}).devices == std::vector<std::string>{"/job:ps/task:0/device:CPU:0"},
      boost::test_tools::per_element());
  const auto reply =
      client.call(feeding({Tensor::scalar(3.5f), Tensor::of<std::string>({1}, {"text"})}));
  BOOST_TEST(reply.status.ok());
  BOOST_TEST(reply.status.message == "session|y:0|train|x|1500");
  BOOST_REQUIRE(reply.fetches.size() == 2u);
  BOOST_TEST(reply.fetches[0].scalar<float>() == 3.5f);
  BOOST_TEST(reply.fetches[1].scalar<std::string>() == "text");
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
