// How much of large tensors a peer holds, and that nobody waits for ever.
#include <boost/test/unit_test.hpp>

#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t elements = 150 << 10;
constexpr std::size_t size_bytes = 600 << 10;  // two are more than the window of 1 MiB

struct Pair {
  explicit Pair(RpcOptions options) : network(make_rpc_network(ops(), heap(), options)) {}

  Message next() {
    auto message = receiver.messages.take();
    BOOST_REQUIRE(message);
    return std::move(*message);
  }
  StepId next_step() { return std::get<TensorDelivery>(next()).step; }

  std::unique_ptr<Network> network;
  Receiver receiver{*network, task("ps", 0)};
  Sender sender{*network, receiver.address(), task("worker", 1), {"ps", 0}};
};

RpcOptions patient(std::size_t shared_memory_bytes) {
  return {.window_bytes = 1 << 20,
          .window_patience_ms = 600'000,
          .shared_memory_bytes = shared_memory_bytes};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(credits)

BOOST_AUTO_TEST_CASE(the_next_tensor_comes_when_one_is_destroyed) {
  for (const std::size_t shared_memory_bytes : {std::size_t{0}, std::size_t{16} << 20}) {
    Pair pair(patient(shared_memory_bytes));
    for (StepId step = 1; step <= 5; ++step)
      pair.sender.link->send(TensorDelivery{step, 0, counting(elements)});
    for (StepId step = 1; step <= 5; ++step) {
      const Message held = pair.next();
      BOOST_TEST(std::get<TensorDelivery>(held).step == step);
      pair.sender.link->send(DeregisterGraph{step});
      // The small message is here, the tensor that was sent before it is not.
      BOOST_TEST(std::get<DeregisterGraph>(pair.next()).handle == step);
      // One may have been taken out already, to wait for its turn.
      const std::size_t waiting = 5 - step;
      BOOST_TEST(pair.sender.link->waiting_bytes() <= waiting * (size_bytes + 1024));
      if (waiting > 1) BOOST_TEST(pair.sender.link->waiting_bytes() >= (waiting - 1) * size_bytes);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_that_is_larger_than_the_window_goes_alone) {
  Pair pair(patient(0));
  pair.sender.link->send(TensorDelivery{1, 0, counting(elements)});
  pair.sender.link->send(TensorDelivery{2, 0, counting(8 * elements)});
  pair.sender.link->send(TensorDelivery{3, 0, counting(elements)});
  for (StepId step = 1; step <= 3; ++step) BOOST_TEST(pair.next_step() == step);
}

BOOST_AUTO_TEST_CASE(a_receiver_that_needs_more_at_a_time_gets_it) {
  RpcOptions impatient = patient(0);
  impatient.window_patience_ms = 5;
  Pair pair(impatient);
  std::vector<Message> held;
  for (StepId step = 1; step <= 12; ++step)
    pair.sender.link->send(TensorDelivery{step, 0, counting(elements)});
  for (int i = 0; i < 12; ++i) held.push_back(pair.next());
  BOOST_TEST(std::get<TensorDelivery>(held.back()).step == 12u);
}

BOOST_AUTO_TEST_CASE(a_tensor_above_the_limit_of_a_peer_brings_the_link_down_and_both_sizes_are_named) {
  Pair pair({.max_incoming_bytes = 1 << 20, .window_bytes = 1 << 20});
  pair.sender.link->send(TensorDelivery{1, 0, counting(1 << 18)});
  const auto down = pair.sender.down.take();
  BOOST_REQUIRE(down);
  BOOST_TEST((down->code == Code::resource_exhausted));
  BOOST_TEST(down->message.find("limit of 1048576 bytes") != std::string::npos, down->message);
}

BOOST_AUTO_TEST_CASE(tensors_outlive_link_listener_and_network) {
  for (const std::size_t shared_memory_bytes : {std::size_t{0}, std::size_t{16} << 20}) {
    Message kept;
    {
      Pair pair(patient(shared_memory_bytes));
      pair.sender.link->send(TensorDelivery{1, 0, counting(elements)});
      kept = pair.next();
    }
    BOOST_TEST(identical(std::get<TensorDelivery>(kept).tensor, counting(elements)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
