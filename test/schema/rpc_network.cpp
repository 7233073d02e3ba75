// Links and listeners over real sockets on loopback.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <set>
#include <thread>

#include "test/schema/support/tasks.h"
#include "test/support/no_descriptors.h"
#include "test/support/strange_memory.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

struct OneNetwork {
  std::unique_ptr<Network> network = make_rpc_network(ops(), heap());
};

Code code_of(const std::function<void()>& action, const std::string& part_of_message) {
  try {
    action();
  } catch (const Error& error) {
    BOOST_TEST(std::string(error.what()).find(part_of_message) != std::string::npos, error.what());
    return error.code();
  }
  return Code::ok;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rpc_network, OneNetwork)

BOOST_AUTO_TEST_CASE(both_ends_learn_who_the_other_is) {
  Receiver receiver(*network, task("ps", 0));
  Sender sender(*network, receiver.address(), task("worker", 3), {"ps", 0});
  const auto up = sender.up.take();
  BOOST_REQUIRE(up);
  BOOST_TEST((up->name == TaskName{"ps", 0}));
  BOOST_TEST(up->incarnation == 1000u);
  sender.link->send(ReplicaDone{});
  const auto from = receiver.senders.take();
  BOOST_REQUIRE(from);
  BOOST_TEST((from->name == TaskName{"worker", 3}));
  BOOST_TEST(from->incarnation == 1003u);
}

BOOST_AUTO_TEST_CASE(small_and_large_messages_of_several_threads_keep_the_order_of_each) {
  constexpr int threads = 4;
  constexpr std::uint64_t per_thread = 20'000;
  Receiver receiver(*network, task("ps", 0));
  Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
  std::vector<std::thread> senders;
  for (std::uint32_t t = 0; t < threads; ++t)
    senders.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < per_thread; ++i)
        sender.link->send(
            TensorDelivery{i, t, i % 5000 == 0 ? counting(1 << 19) : Tensor::scalar(1.0f)});
    });
  for (auto& thread : senders) thread.join();
  std::vector<std::uint64_t> small(threads, 0), large(threads, 0);
  for (std::uint64_t i = 0; i < threads * per_thread; ++i) {
    const auto message = receiver.messages.take();
    BOOST_REQUIRE(message);
    const auto& delivery = std::get<TensorDelivery>(*message);
    if (delivery.step % 5000 == 0) {
      BOOST_REQUIRE(delivery.step == 5000 * large[delivery.channel]++);
    } else {
      BOOST_REQUIRE(delivery.step > small[delivery.channel]);
      small[delivery.channel] = delivery.step;
    }
  }
}

BOOST_AUTO_TEST_CASE(several_links_to_one_listener_do_not_mix) {
  Receiver receiver(*network, task("ps", 0));
  std::vector<std::unique_ptr<Sender>> senders;
  for (int i = 0; i < 20; ++i) {
    senders.push_back(
        std::make_unique<Sender>(*network, receiver.address(), task("worker", i), TaskName{"ps", 0}));
    senders.back()->link->send(DeregisterGraph{static_cast<std::uint64_t>(i)});
  }
  for (int i = 0; i < 20; ++i) {
    const auto from = receiver.senders.take();
    const auto message = receiver.messages.take();
    BOOST_REQUIRE((from && message));
    BOOST_TEST(std::get<DeregisterGraph>(*message).handle ==
               static_cast<std::uint64_t>(from->name.index));
  }
}

// The first message meets the end of the handshake now and then: it must neither be lost nor overtaken.
BOOST_AUTO_TEST_CASE(what_is_sent_while_the_handshake_ends_arrives_in_order) {
  Receiver receiver(*network, task("ps", 0));
  const Tensor chunked = counting(1 << 19);
  for (unsigned round = 0; round < 300; ++round) {
    Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
    // Vary the moment of the first message over the time that a handshake takes.
    const auto first = std::chrono::steady_clock::now() + std::chrono::microseconds(2 * round);
    while (std::chrono::steady_clock::now() < first) {
    }
    for (std::uint64_t i = 0; i < 3; ++i) sender.link->send(TensorDelivery{i, round, chunked});
    for (std::uint64_t i = 0; i < 3; ++i) {
      const auto message = receiver.messages.take();
      BOOST_REQUIRE(message);
      BOOST_REQUIRE(std::get<TensorDelivery>(*message).channel == round);
      BOOST_REQUIRE(std::get<TensorDelivery>(*message).step == i);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_was_sent_before_a_link_ends_still_arrives) {
  Receiver receiver(*network, task("worker", 0));
  const Tensor tensor = counting(4 << 20);
  {
    const auto other = make_rpc_network(ops(), heap());
    Sender sender(*other, receiver.address(), task("worker", 1), {"worker", 0});
    sender.link->send(TensorDelivery{1, 1, tensor});
    sender.link->send(Shutdown{"done"});
  }
  const auto delivery = receiver.messages.take();
  const auto shutdown = receiver.messages.take();
  BOOST_REQUIRE((delivery && shutdown));
  BOOST_TEST(identical(std::get<TensorDelivery>(*delivery).tensor, tensor));
  BOOST_TEST(std::get<Shutdown>(*shutdown).reason == "done");
  BOOST_TEST(receiver.gone.take().has_value());
}

BOOST_AUTO_TEST_CASE(a_link_may_end_inside_of_its_own_event) {
  Receiver receiver(*network, task("ps", 0));
  Mailbox<bool> ended;
  Mailbox<std::unique_ptr<Link>> link;
  link.put(network->connect(receiver.address(), task("worker", 0), {"ps", 0},
                            {[&](const TaskIdentity&) {
                               link.take()->reset();
                               ended.put(true);
                             },
                             [](const Status&) {}}));
  BOOST_TEST(ended.take().has_value());
  BOOST_TEST(receiver.gone.take().has_value());
}

BOOST_AUTO_TEST_CASE(a_link_is_down_when_the_listener_ends) {
  auto receiver = std::make_unique<Receiver>(*network, task("ps", 0));
  Sender sender(*network, receiver->address(), task("worker", 0), {"ps", 0});
  BOOST_REQUIRE(sender.up.take());
  receiver.reset();
  const auto down = sender.down.take();
  BOOST_REQUIRE(down);
  BOOST_TEST((down->code == Code::unavailable));
  BOOST_TEST(down->message.find("/job:ps/task:0") != std::string::npos, down->message);
  sender.link->send(ReplicaDone{});
  BOOST_TEST(sender.down.size() == 0u);
}

BOOST_AUTO_TEST_CASE(nobody_listening_is_unavailable_and_names_whom_it_wanted) {
  std::string address;
  { address = Receiver(*network, task("ps", 0)).address(); }
  Sender sender(*network, address, task("worker", 0), {"ps", 0});
  const auto down = sender.down.take();
  BOOST_REQUIRE(down);
  BOOST_TEST((down->code == Code::unavailable));
  BOOST_TEST(down->message.find("cannot reach /job:ps/task:0 at " + address) != std::string::npos,
             down->message);
}

// A task that waits for a thousand others would otherwise hold thousands of links, for as long as each
// may linger.
BOOST_AUTO_TEST_CASE(a_link_that_reached_nobody_is_gone_when_it_ends) {
  const auto patient = make_rpc_network(ops(), heap(), {.linger_ms = 3'600'000});
  std::string address;
  { address = Receiver(*network, task("ps", 0)).address(); }
  auto held = std::make_shared<Mailbox<bool>>();
  const std::weak_ptr kept(held);
  auto link =
      patient->connect(address, task("worker", 0), {"ps", 0},
                       {[held](const TaskIdentity&) {}, [held](const Status&) { held->put(true); }});
  BOOST_REQUIRE(held->take());
  held.reset();
  BOOST_TEST(!kept.expired());
  link.reset();
  // Takes several turns of the loop that is to drop the link.
  BOOST_REQUIRE(Sender(*patient, address, task("worker", 1), {"ps", 0}).down.take());
  BOOST_TEST(kept.expired());
}

// Whoever takes that for the loss of the other task starts again without an end.
BOOST_AUTO_TEST_CASE(a_process_without_descriptors_does_not_take_the_other_task_for_lost) {
  Receiver receiver(*network, task("ps", 0));
  const NoDescriptors any_more;
  Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
  const auto down = sender.down.take();
  BOOST_REQUIRE(down);
  BOOST_TEST((down->code == Code::resource_exhausted), down->to_string());
  BOOST_TEST(down->message.find("cannot reach /job:ps/task:0") != std::string::npos, down->message);
}

BOOST_AUTO_TEST_CASE(the_wrong_task_is_refused_and_both_are_named) {
  Receiver receiver(*network, task("ps", 1));
  Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
  const auto down = sender.down.take();
  BOOST_REQUIRE(down);
  BOOST_TEST((down->code == Code::failed_precondition));
  BOOST_TEST(down->message.find("expected /job:ps/task:0, but /job:ps/task:1") != std::string::npos,
             down->message);
}

BOOST_AUTO_TEST_CASE(a_peer_that_accepts_and_says_nothing_is_given_up) {
  const auto impatient = make_rpc_network(ops(), heap(), {.handshake_timeout_ms = 50});
  // The kernel accepts for a listener that nobody serves: its network's thread is held in a callback.
  Receiver receiver(*network, task("ps", 0));
  Mailbox<bool> held, release;
  const auto holder = network->connect(receiver.address(), task("worker", 1), {"ps", 0},
                                       {[&](const TaskIdentity&) {
                                          held.put(true);
                                          release.take();
                                        },
                                        [](const Status&) {}});
  BOOST_REQUIRE(held.take());
  Sender sender(*impatient, receiver.address(), task("worker", 0), {"ps", 0});
  const auto down = sender.down.take();
  release.put(true);
  BOOST_REQUIRE(down);
  BOOST_TEST((down->code == Code::unavailable));
  BOOST_TEST(down->message.find("no answer within 50 ms") != std::string::npos, down->message);
}

BOOST_AUTO_TEST_CASE(a_taken_port_is_named) {
  Receiver receiver(*network, task("ps", 0));
  const auto listen_again = [&] { network->listen(receiver.address(), task("ps", 1), {}); };
  BOOST_TEST((code_of(listen_again, receiver.address()) == Code::already_exists));
  BOOST_TEST((code_of(listen_again, "already in use") == Code::already_exists));
}

BOOST_AUTO_TEST_CASE(a_port_is_free_again_when_its_listener_has_ended) {
  std::string address = "127.0.0.1:0";
  for (int i = 0; i < 50; ++i) {
    Receiver receiver(*network, task("ps", 0), {}, address);
    address = receiver.address();
    Sender sender(*network, address, task("worker", 0), {"ps", 0});
    BOOST_REQUIRE(sender.up.take());
  }
}

BOOST_AUTO_TEST_CASE(port_0_picks_free_ones) {
  Receiver a(*network, task("ps", 0)), b(*network, task("ps", 1));
  BOOST_TEST(a.address() != b.address());
  BOOST_TEST(a.address().starts_with("127.0.0.1:"));
  BOOST_TEST(!a.address().ends_with(":0"));
}

BOOST_AUTO_TEST_CASE(addresses_that_make_no_sense_are_invalid) {
  for (const std::string address :
       {"", "localhost", "localhost:", "localhost:x", "localhost:65536", ":1", "::1:80",
        "no_such_host.invalid:1", "unix:/tmp/x", "*:1", "192.0.2.1:-1"}) {
    const auto listen = [&] { network->listen(address, task("ps", 0), {}); };
    BOOST_TEST((code_of(listen, address) == Code::invalid_argument), address);
  }
}

BOOST_AUTO_TEST_CASE(an_address_that_others_can_reach_is_refused_unless_allowed) {
  const auto listen = [&] { network->listen("0.0.0.0:0", task("ps", 0), {}); };
  BOOST_TEST((code_of(listen, "0.0.0.0") == Code::permission_denied));
  const auto open = make_rpc_network(ops(), heap(), {.insecure = true});
  Receiver receiver(*open, task("ps", 0), {}, "0.0.0.0:0");
  const std::string port = receiver.address().substr(receiver.address().rfind(':'));
  Sender sender(*open, "127.0.0.1" + port, task("worker", 0), {"ps", 0});
  BOOST_TEST(sender.up.take().has_value());
}

BOOST_AUTO_TEST_CASE(names_are_resolved) {
  Receiver receiver(*network, task("ps", 0), {}, "localhost:0");
  Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
  BOOST_TEST(sender.up.take().has_value());
}

BOOST_AUTO_TEST_CASE(a_tensor_that_cannot_be_sent_fails_its_step_and_nothing_else) {
  ClaimsToBeOnGpu elsewhere;
  Receiver receiver(*network, task("ps", 0));
  Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
  const Tensor tensor = Tensor::allocate(DType::float32, {4}, elsewhere);
  sender.link->send(TensorDelivery{7, 1, tensor});
  sender.link->send(StepDone{8, {}, {{0, tensor}}});
  sender.link->send(DeregisterGraph{9});
  const auto undelivered = receiver.messages.take(), done = receiver.messages.take();
  BOOST_REQUIRE((undelivered && std::holds_alternative<Undelivered>(*undelivered)));
  const auto& [what, number, reason] = std::get<Undelivered>(*undelivered);
  BOOST_TEST((what == Undelivered::What::tensor && number == 7));
  BOOST_TEST((reason.code == Code::invalid_argument));
  for (const char* part : {"cannot send to /job:ps/task:0", "lives on a GPU"})
    BOOST_TEST(reason.message.find(part) != std::string::npos, reason.message);
  BOOST_REQUIRE((done && std::holds_alternative<StepDone>(*done)));
  BOOST_TEST(std::get<StepDone>(*done).step == 8);
  BOOST_TEST((std::get<StepDone>(*done).status.code == Code::invalid_argument));
  BOOST_TEST(std::get<DeregisterGraph>(*receiver.messages.take()).handle == 9);
}

BOOST_AUTO_TEST_CASE(connections_beyond_the_limit_are_refused_and_others_stay) {
  Mailbox<std::string> warnings;
  const auto small = make_rpc_network(
      ops(), heap(),
      {.max_connections = 1, .on_warning = [&](const std::string& text) { warnings.put(text); }});
  Receiver receiver(*small, task("ps", 0));
  Sender first(*small, receiver.address(), task("worker", 0), {"ps", 0});
  BOOST_REQUIRE(first.up.take());
  Sender second(*small, receiver.address(), task("worker", 1), {"ps", 0});
  BOOST_TEST(second.down.take().has_value());
  BOOST_TEST(warnings.take().value_or("").find("there are already 1 others") != std::string::npos);
  first.link->send(ReplicaDone{});
  BOOST_TEST(receiver.messages.take().has_value());
  // A bulk plane belongs to its link.
  first.link->send(TensorDelivery{1, 1, counting(1 << 20)});
  BOOST_TEST(receiver.messages.take().has_value());
}

BOOST_AUTO_TEST_CASE(a_new_connection_of_a_task_ends_its_older_one) {
  Receiver receiver(*network, task("ps", 0));
  Sender older(*network, receiver.address(), task("worker", 0), {"ps", 0});
  BOOST_REQUIRE(older.up.take());
  Sender newer(*network, receiver.address(), {{"worker", 0}, 7}, {"ps", 0});
  BOOST_REQUIRE(newer.up.take());
  BOOST_TEST(older.down.take().has_value());
  const auto gone = receiver.gone.take();
  BOOST_TEST((gone && gone->incarnation == task("worker", 0).incarnation));
  newer.link->send(ReplicaDone{});
  const auto from = receiver.senders.take();
  BOOST_TEST((from && from->incarnation == 7u));
}

BOOST_AUTO_TEST_CASE(whom_the_listener_does_not_admit_hears_why) {
  const auto listener = network->listen(
      "127.0.0.1:0", task("ps", 0),
      {[](const TaskIdentity&, const Message&) {},
       [](const TaskIdentity&) {},
       {},
       [](const TaskIdentity& from) {
         return from.incarnation == 7 ? Status{Code::aborted, "seven is not welcome"} : Status{};
       }});
  Sender seven(*network, listener->address(), {{"worker", 0}, 7}, {"ps", 0});
  const auto refused = seven.down.take();
  BOOST_REQUIRE(refused);
  BOOST_TEST((refused->code == Code::aborted));
  BOOST_TEST(refused->message.find("seven is not welcome") != std::string::npos, refused->message);
  Sender eight(*network, listener->address(), {{"worker", 0}, 8}, {"ps", 0});
  BOOST_TEST(eight.up.take().has_value());
}

BOOST_AUTO_TEST_CASE(whom_the_listener_fails_to_look_at_stays_out) {
  const auto listener = network->listen("127.0.0.1:0", task("ps", 0),
                                        {[](const TaskIdentity&, const Message&) {},
                                         [](const TaskIdentity&) {},
                                         {},
                                         [](const TaskIdentity&) -> Status { throw std::bad_alloc(); }});
  Sender sender(*network, listener->address(), task("worker", 0), {"ps", 0});
  const auto refused = sender.down.take();
  BOOST_REQUIRE(refused);
  BOOST_TEST((refused->code == Code::internal));
  BOOST_TEST(refused->message.find("whether /job:worker/task:0 may come in") != std::string::npos,
             refused->message);
}

BOOST_AUTO_TEST_SUITE_END()
