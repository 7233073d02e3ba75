// What a link promises about the order of small and large messages.
#include <boost/test/unit_test.hpp>
#include <thread>

#include "test/schema/support/tasks.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t large_elements = 1 << 18;  // 1 MiB: as much as the receiver wants to hold

// A link whose large messages stand still: the receiver holds one, and its window is full.
struct Blocked {
  Blocked() {
    sender.link->send(TensorDelivery{0, 0, counting(large_elements)});
    held = receiver.messages.take();
    BOOST_REQUIRE(held);
  }

  Message next() {
    auto message = receiver.messages.take();
    BOOST_REQUIRE(message);
    return std::move(*message);
  }
  StepId next_delivery() { return std::get<TensorDelivery>(next()).step; }
  // Sends a message, and a small tensor behind it: that overtakes only what waits.
  void send_and_mark(Message message) {
    sender.link->send(std::move(message));
    sender.link->send(TensorDelivery{99, 0, Tensor::scalar(1.0f)});
  }

  RpcOptions options{.window_bytes = 1 << 20, .window_patience_ms = 600'000};
  std::unique_ptr<Network> network = make_rpc_network(ops(), heap(), options);
  Receiver receiver{*network, task("ps", 0)};
  Sender sender{*network, receiver.address(), task("worker", 1), {"ps", 0}};
  std::optional<Message> held;
};

RunGraph large_run(StepId step) { return {7, step, 0, {{0, counting(large_elements)}}}; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(link_order, Blocked)

BOOST_AUTO_TEST_CASE(small_messages_overtake_large_ones) {
  sender.link->send(TensorDelivery{1, 0, counting(large_elements)});
  sender.link->send(large_run(2));
  sender.link->send(GraphRegistered{3, {}, 3});
  sender.link->send(RunGraph{7, 4, 0, {}});
  sender.link->send(StepDone{5, {}, {}});
  sender.link->send(GradientApplied{"step", "w", 6, 0});
  sender.link->send(TensorDelivery{7, 0, Tensor::scalar(1.0f)});
  BOOST_TEST(std::get<GraphRegistered>(next()).request == 3u);
  BOOST_TEST(std::get<RunGraph>(next()).step == 4u);
  BOOST_TEST(std::get<StepDone>(next()).step == 5u);
  BOOST_TEST(std::get<GradientApplied>(next()).global_step == 6);
  BOOST_TEST(next_delivery() == 7u);
  held.reset();
  BOOST_TEST(next_delivery() == 1u);
  BOOST_TEST(std::get<RunGraph>(next()).step == 2u);
}

BOOST_AUTO_TEST_CASE(an_abort_overtakes_tensors_but_not_the_run_that_it_ends) {
  sender.link->send(large_run(1));
  sender.link->send(TensorDelivery{2, 0, counting(large_elements)});
  send_and_mark(AbortStep{1, {Code::cancelled, ""}});
  BOOST_TEST(next_delivery() == 99u);
  held.reset();
  // The tensor waits for the arguments of the run, which we hold; the abort does not wait for the
  // tensor.
  held = next();
  BOOST_TEST(std::get<RunGraph>(*held).step == 1u);
  BOOST_TEST(std::get<AbortStep>(next()).step == 1u);
  held.reset();
  BOOST_TEST(next_delivery() == 2u);
}

BOOST_AUTO_TEST_CASE(an_abort_does_not_wait_where_no_large_run_is_on_its_way) {
  sender.link->send(TensorDelivery{1, 0, counting(large_elements)});
  sender.link->send(RunGraph{7, 1, 0, {}});
  sender.link->send(AbortStep{1, {Code::cancelled, ""}});
  BOOST_TEST(std::get<RunGraph>(next()).step == 1u);
  BOOST_TEST(std::get<AbortStep>(next()).step == 1u);
}

BOOST_AUTO_TEST_CASE(a_graph_is_deregistered_after_its_last_run) {
  sender.link->send(large_run(1));
  send_and_mark(DeregisterGraph{7});
  BOOST_TEST(next_delivery() == 99u);
  held.reset();
  BOOST_TEST(std::get<RunGraph>(next()).step == 1u);
  BOOST_TEST(std::get<DeregisterGraph>(next()).handle == 7u);
}

BOOST_AUTO_TEST_CASE(last_words_come_after_everything) {
  sender.link->send(TensorDelivery{1, 0, counting(large_elements)});
  sender.link->send(ReplicaDone{});
  send_and_mark(Shutdown{"over"});
  BOOST_TEST(next_delivery() == 99u);
  held.reset();
  BOOST_TEST(next_delivery() == 1u);
  BOOST_TEST(std::holds_alternative<ReplicaDone>(next()));
  BOOST_TEST(std::get<Shutdown>(next()).reason == "over");
}

BOOST_AUTO_TEST_CASE(a_link_that_ends_still_delivers_both_lanes) {
  for (StepId step = 1; step <= 4; ++step) {
    sender.link->send(TensorDelivery{step, 0, counting(large_elements)});
    sender.link->send(DeregisterGraph{step});
  }
  held.reset();
  std::thread end([this] { sender.link.reset(); });
  StepId tensors = 0, others = 0;
  for (int i = 0; i < 8; ++i) {
    const Message message = next();  // destroyed at once: makes room for the next
    if (const auto* delivery = std::get_if<TensorDelivery>(&message))
      BOOST_TEST(delivery->step == ++tensors);
    else
      BOOST_TEST(std::get<DeregisterGraph>(message).handle == ++others);
  }
  end.join();
  BOOST_TEST(receiver.gone.take().has_value());
}

BOOST_AUTO_TEST_SUITE_END()
