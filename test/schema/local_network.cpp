#include "schema/local_network.h"

#include <boost/test/unit_test.hpp>
#include <new>
#include <thread>

#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

struct OneLocalNetwork {
  std::unique_ptr<Network> network = make_local_network();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(local_network, OneLocalNetwork)

BOOST_AUTO_TEST_CASE(a_tensor_arrives_as_the_same_memory) {
  Receiver receiver(*network, task("ps", 0), {}, "local:0");
  Sender sender(*network, receiver.address(), task("worker", 1), {"ps", 0});
  BOOST_TEST((sender.up.take()->name == TaskName{"ps", 0}));
  const Tensor tensor = counting(10);
  sender.link->send(TensorDelivery{1, 2, tensor});
  BOOST_TEST((receiver.senders.take()->name == TaskName{"worker", 1}));
  BOOST_TEST(std::get<TensorDelivery>(*receiver.messages.take()).tensor.data() == tensor.data());
}

BOOST_AUTO_TEST_CASE(the_order_of_each_thread_is_kept_and_callbacks_never_overlap) {
  constexpr std::uint64_t per_thread = 20'000;
  std::atomic<int> inside = 0;
  std::atomic<bool> overlapped = false;
  std::vector<std::uint64_t> next(4, 0);
  bool in_order = true;
  const auto listener =
      network->listen("local:1", task("ps", 0),
                      {[&](const TaskIdentity& from, Message message) {
                         if (inside++ > 0) overlapped = true;
                         auto& expected = next[static_cast<std::size_t>(from.name.index)];
                         in_order = in_order && std::get<DeregisterGraph>(message).handle == expected++;
                         --inside;
                       },
                       [](const TaskIdentity&) {},
                       {}});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Sender sender(*network, "local:1", task("worker", t), {"ps", 0});
      for (std::uint64_t i = 0; i < per_thread; ++i) sender.link->send(DeregisterGraph{i});
    });
  for (auto& thread : threads) thread.join();
  BOOST_TEST(!overlapped);
  BOOST_TEST(in_order);
  for (const auto count : next) BOOST_TEST(count == per_thread);
}

BOOST_AUTO_TEST_CASE(two_tasks_may_answer_each_other_from_their_callbacks) {
  std::unique_ptr<Link> to_a, to_b;
  Mailbox<std::uint64_t> last;
  const auto answer_on = [&last](std::unique_ptr<Link>& link) {
    return [&](const TaskIdentity&, Message message) {
      const std::uint64_t count = std::get<DeregisterGraph>(message).handle;
      count == 1000 ? last.put(count) : link->send(DeregisterGraph{count + 1});
    };
  };
  const auto ignore = [](const TaskIdentity&) {};
  const auto a = network->listen("local:1", task("a", 0), {answer_on(to_b), ignore, {}});
  const auto b = network->listen("local:2", task("b", 0), {answer_on(to_a), ignore, {}});
  const LinkEvents no_events{ignore, [](const Status&) {}};
  to_a = network->connect("local:1", task("b", 0), {"a", 0}, no_events);
  to_b = network->connect("local:2", task("a", 0), {"b", 0}, no_events);
  to_a->send(DeregisterGraph{0});
  BOOST_TEST(last.take().value_or(0) == 1000u);
  to_a.reset();
  to_b.reset();
}

BOOST_AUTO_TEST_CASE(what_a_callback_throws_reaches_its_thread_and_the_next_messages_arrive) {
  std::uint64_t last = 0;
  const auto on_message = [&](const TaskIdentity&, Message message) {
    last = std::get<DeregisterGraph>(message).handle;
    if (last == 1) throw std::bad_alloc();
  };
  auto listener = network->listen("local:1", task("ps", 0), {on_message, [](const TaskIdentity&) {}, {}});
  Sender sender(*network, "local:1", task("worker", 0), {"ps", 0});
  BOOST_CHECK_THROW(sender.link->send(DeregisterGraph{1}), std::bad_alloc);
  sender.link->send(DeregisterGraph{2});
  BOOST_TEST(last == 2u);
  std::thread([&listener] { listener.reset(); }).join();  // which would wait for one that still runs
}

BOOST_AUTO_TEST_CASE(the_end_of_either_side_is_told_to_the_other) {
  auto receiver = std::make_unique<Receiver>(*network, task("ps", 0), MasterHandler(), "local:1");
  { const Sender sender(*network, "local:1", task("worker", 1), {"ps", 0}); }
  BOOST_TEST((receiver->gone.take()->name == TaskName{"worker", 1}));
  Sender sender(*network, "local:1", task("worker", 2), {"ps", 0});
  receiver.reset();
  BOOST_TEST((sender.down.take()->code == Code::unavailable));
  sender.link->send(ReplicaDone{});
}

BOOST_AUTO_TEST_CASE(nobody_listening_the_wrong_task_and_a_taken_port_are_told) {
  Sender lonely(*network, "local:1", task("worker", 0), {"ps", 0});
  BOOST_TEST((lonely.down.take()->code == Code::unavailable));
  Receiver receiver(*network, task("ps", 1), {}, "local:1");
  Sender mistaken(*network, "local:1", task("worker", 0), {"ps", 0});
  BOOST_TEST((mistaken.down.take()->code == Code::failed_precondition));
  const auto is_taken = [](const Error& error) { return error.code() == Code::already_exists; };
  BOOST_CHECK_EXCEPTION(network->listen("local:1", task("ps", 2), {}), Error, is_taken);
}

BOOST_AUTO_TEST_SUITE_END()
