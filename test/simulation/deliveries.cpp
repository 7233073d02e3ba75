// The small messages that a machine sends to another at one moment are one delivery.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/simulation/sim_network.h"
#include "actors/simulation/sim_runtime.h"
#include "actors/simulation/sim_storage.h"
#include "actors/simulation/world/world.h"
#include "kernels/core/kernel.h"

BOOST_AUTO_TEST_SUITE(deliveries)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

// One machine that sends to two others. At each end a delivery costs 10 ms and each message 1 ms; one
// way takes 100 ms, and bytes take no time.
class Machines {
 public:
  Machines() {
    network_.set_model({.latency = 100ms,
                        .jitter = 0,
                        .bytes_per_second = 1e15,
                        .message_cost = 1ms,
                        .delivery_cost = 10ms});
    for (int i = 0; i < 2; ++i) listen(i);
    for (int i = 0; i < 2; ++i) connect(i);
    run_until([this] { return linked_ == 2; });
    began_ = world_.elapsed();
  }

  // At this moment; message `step` to that machine.
  void send(int to, StepId step) {
    world_.as(sender_, [&] { links_.at(static_cast<std::size_t>(to))->send(AbortStep{step, {}}); });
  }
  void close(int to) {
    world_.as(sender_, [&] { links_.at(static_cast<std::size_t>(to)).reset(); });
  }
  void pass(std::chrono::milliseconds time) {
    bool passed = false;
    world_.after(time, [&] { passed = true; });
    run_until([&] { return passed; });
  }

  struct Received {
    int by;
    StepId step;
    std::chrono::nanoseconds after;
  };
  std::vector<Received> receive(std::size_t messages) {
    run_until([&] { return received_.size() == messages; });
    return received_;
  }
  std::uint64_t deliveries() const { return network_.deliveries(); }

 private:
  static std::string address(int i) { return "host-" + std::to_string(i) + ":1"; }
  static TaskName name(int i) { return {"worker", i}; }

  void listen(int i) {
    world_.as(world_.add_track(name(i).to_string()), [&] {
      listeners_.push_back(network_.listen(
          address(i), {name(i), 1},
          {.received =
               [this, i](const TaskIdentity&, const Message& message) {
                 received_.push_back({i, std::get<AbortStep>(message).step, world_.elapsed() - began_});
               },
           .gone = [](const TaskIdentity&) {},
           .master = {}}));
    });
  }
  void connect(int i) {
    world_.as(sender_, [&] {
      links_.push_back(network_.connect(
          address(i), {name(2), 1}, name(i),
          {.up = [this](const TaskIdentity&) { ++linked_; }, .down = [](const Status&) {}}));
    });
  }

  template <class Condition>
  void run_until(Condition&& condition) {
    while (!condition()) BOOST_REQUIRE(world_.step());
  }

  World world_{1, std::make_unique<RandomSchedule>(1), false};
  SimNetwork network_{world_, builtin_ops().registry(), cpu_device().allocator()};
  SimStorage storage_{world_};
  SimRuntime runtime_{world_, network_, storage_};
  TrackId sender_ = world_.add_track("sender");
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<Link>> links_;
  int linked_ = 0;
  std::chrono::nanoseconds began_{0};
  std::vector<Received> received_;
};

// Both in the order of arrival.
void check(const std::vector<Machines::Received>& received,
           const std::vector<Machines::Received>& expected) {
  BOOST_REQUIRE(received.size() == expected.size());
  for (std::size_t i = 0; i < received.size(); ++i) {
    BOOST_TEST(received[i].by == expected[i].by);
    BOOST_TEST(received[i].step == expected[i].step);
    BOOST_TEST(received[i].after.count() == expected[i].after.count());
  }
}

}  // namespace

// The second message to machine 0 does not leave behind the first one to machine 1.
BOOST_AUTO_TEST_CASE(messages_of_a_moment_leave_together_and_are_handled_together) {
  Machines machines;
  machines.send(0, 1);
  machines.send(1, 2);
  machines.send(0, 3);
  machines.send(1, 4);
  check(machines.receive(4), {{0, 1, 123ms}, {0, 3, 124ms}, {1, 2, 135ms}, {1, 4, 136ms}});
  BOOST_TEST(machines.deliveries() == 2u);
}

BOOST_AUTO_TEST_CASE(a_message_of_a_later_moment_is_a_delivery_of_its_own) {
  Machines machines;
  machines.send(0, 1);
  machines.pass(1ms);
  machines.send(0, 2);
  // The sender is done with the second one 22 ms after the beginning, the receiver 11 ms after it came.
  check(machines.receive(2), {{0, 1, 122ms}, {0, 2, 133ms}});
  BOOST_TEST(machines.deliveries() == 2u);
}

BOOST_AUTO_TEST_CASE(a_connection_that_closes_at_that_moment_has_sent_them) {
  Machines machines;
  machines.send(0, 1);
  machines.close(0);
  check(machines.receive(1), {{0, 1, 122ms}});
}

BOOST_AUTO_TEST_SUITE_END()
