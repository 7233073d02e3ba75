// What happens on a network's own thread: answers from inside of callbacks, and how callbacks come.
#include <atomic>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "test/schema/support/tasks.h"
#include "test/support/strange_memory.h"

BOOST_AUTO_TEST_SUITE(network_thread)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// Asleep between messages, spinning now and then, spinning all the time.
const std::vector<std::int64_t> spin_times_us{0, 50, 60'000'000};

// A task that sends everything back from inside of the callback.
struct Echo {
  Echo(Network& network, const std::string& address)
      : link(network.connect(address, task("ps", 0), {"worker", 0},
                             {[](const TaskIdentity&) {}, [](const Status&) {}})),
        listener(network.listen(
            "127.0.0.1:0", task("ps", 0),
            {[this](const TaskIdentity&, Message message) { link->send(std::move(message)); },
             [](const TaskIdentity&) {},
             {}})) {}

  std::unique_ptr<Link> link;
  std::unique_ptr<Listener> listener;
};

std::unique_ptr<Network> network_that_spins(std::int64_t spin_us) {
  RpcOptions options;
  options.spin_us = spin_us;
  return make_rpc_network(ops(), heap(), options);
}

}  // namespace

BOOST_DATA_TEST_CASE(answers_from_callbacks_keep_the_order, boost::unit_test::data::make(spin_times_us),
                     spin_us) {
  constexpr std::uint64_t count = 50'000;
  const auto here = network_that_spins(spin_us), there = network_that_spins(spin_us);
  Receiver receiver(*here, task("worker", 0));
  Echo echo(*there, receiver.address());
  Sender sender(*here, echo.listener->address(), task("worker", 0), {"ps", 0});
  for (std::uint64_t i = 0; i < count; ++i) sender.link->send(DeregisterGraph{i});
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto answer = receiver.messages.take();
    BOOST_REQUIRE(answer);
    BOOST_REQUIRE(std::get<DeregisterGraph>(*answer).handle == i);
  }
}

// With pauses of about the time that the threads spin, so that they fall asleep now and then.
BOOST_DATA_TEST_CASE(one_message_after_another_is_answered, boost::unit_test::data::make(spin_times_us),
                     spin_us) {
  const auto here = network_that_spins(spin_us), there = network_that_spins(spin_us);
  Receiver receiver(*here, task("worker", 0));
  Echo echo(*there, receiver.address());
  Sender sender(*here, echo.listener->address(), task("worker", 0), {"ps", 0});
  for (unsigned i = 0; i < 2000; ++i) {
    sender.link->send(TensorDelivery{i, 0, Tensor::scalar(1.0f)});
    const auto answer = receiver.messages.take();
    BOOST_REQUIRE(answer);
    BOOST_REQUIRE(std::get<TensorDelivery>(*answer).step == i);
    const auto next = std::chrono::steady_clock::now() + std::chrono::microseconds(i % 100);
    while (std::chrono::steady_clock::now() < next) {
    }
  }
}

BOOST_AUTO_TEST_CASE(messages_that_come_together_are_dispatched_together) {
  constexpr std::uint64_t count = 1000;
  std::atomic<int> dispatches{0};
  RpcOptions options;
  options.dispatch = [&](const std::function<void()>& callbacks) {
    ++dispatches;
    callbacks();
  };
  const auto here = make_rpc_network(ops(), heap(), options);
  const auto there = make_rpc_network(ops(), heap());
  Receiver receiver(*here, task("ps", 0));
  Mailbox<Link*> link;
  // All are sent while the thread is in this callback: after the first, the others go out as one.
  const auto owner = there->connect(receiver.address(), task("worker", 0), {"ps", 0},
                                    {[&](const TaskIdentity&) {
                                       const auto to = link.take();
                                       for (std::uint64_t i = 0; to && i < count; ++i)
                                         (*to)->send(DeregisterGraph{i});
                                     },
                                     [](const Status&) {}});
  link.put(owner.get());
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto message = receiver.messages.take();
    BOOST_REQUIRE(message);
    BOOST_REQUIRE(std::get<DeregisterGraph>(*message).handle == i);
  }
  BOOST_TEST(dispatches.load() >= 1);
  BOOST_TEST(dispatches.load() < 10);
}

BOOST_AUTO_TEST_CASE(every_callback_is_dispatched) {
  std::atomic<bool> inside{false};
  RpcOptions options;
  options.dispatch = [&](const std::function<void()>& callbacks) {
    inside = true;
    callbacks();
    inside = false;
  };
  const auto network = make_rpc_network(ops(), heap(), options);
  Mailbox<bool> up, received, gone, down;
  auto listener = network->listen("127.0.0.1:0", task("ps", 0),
                                  {[&](const TaskIdentity&, Message) { received.put(inside); },
                                   [&](const TaskIdentity&) { gone.put(inside); },
                                   {}});
  auto link = network->connect(
      listener->address(), task("worker", 0), {"ps", 0},
      {[&](const TaskIdentity&) { up.put(inside); }, [&](const Status&) { down.put(inside); }});
  BOOST_TEST(up.take().value_or(false));
  link->send(ReplicaDone{});
  BOOST_TEST(received.take().value_or(false));
  link->send(TensorDelivery{1, 1, counting(1 << 20)});
  BOOST_TEST(received.take().value_or(false));
  link.reset();
  BOOST_TEST(gone.take().value_or(false));
  const auto second = network->connect(
      listener->address(), task("worker", 0), {"ps", 0},
      {[&](const TaskIdentity&) { up.put(inside); }, [&](const Status&) { down.put(inside); }});
  BOOST_TEST(up.take().value_or(false));
  listener.reset();
  BOOST_TEST(down.take().value_or(false));
}

BOOST_AUTO_TEST_CASE(a_message_that_cannot_be_sent_from_a_callback_fails_its_step) {
  ClaimsToBeOnGpu elsewhere;
  const auto network = network_that_spins(0);
  Receiver receiver(*network, task("ps", 0));
  Mailbox<Link*> link;
  const auto owner = network->connect(
      receiver.address(), task("worker", 0), {"ps", 0},
      {[&](const TaskIdentity&) {
         if (const auto to = link.take())
           (*to)->send(TensorDelivery{7, 1, Tensor::allocate(DType::float32, {4}, elsewhere)});
       },
       [](const Status&) {}});
  link.put(owner.get());
  const auto received = receiver.messages.take();
  BOOST_REQUIRE((received && std::holds_alternative<Undelivered>(*received)));
  BOOST_TEST(std::get<Undelivered>(*received).number == 7U);
}

BOOST_DATA_TEST_CASE(a_network_ends_while_its_thread_spins, boost::unit_test::data::make(spin_times_us),
                     spin_us) {
  for (int i = 0; i < 20; ++i) {
    const auto network = network_that_spins(spin_us);
    Receiver receiver(*network, task("ps", 0));
    Sender sender(*network, receiver.address(), task("worker", 0), {"ps", 0});
    sender.link->send(ReplicaDone{});
    BOOST_REQUIRE(receiver.messages.take());
  }
}

BOOST_AUTO_TEST_SUITE_END()
