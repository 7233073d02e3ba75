// How much of large tensors a peer holds, and that nobody waits for ever.
#include <boost/test/unit_test.hpp>

#include "test/schema/support/tasks.h"

BOOST_AUTO_TEST_SUITE(credits)

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

// There is room while it is asked for so much and no more.
class SmallMemory final : public Allocator {
 public:
  explicit SmallMemory(std::size_t largest_bytes) : largest_bytes_(largest_bytes) {}
  BufferRef allocate(std::size_t bytes) override {
    if (bytes <= largest_bytes_) return heap().allocate(bytes);
    throw Error(Code::resource_exhausted, "out of memory: no " + std::to_string(bytes) + " bytes");
  }

 private:
  void release(Buffer*) override {}  // its buffers are the heap's
  const std::size_t largest_bytes_;
};

void check_undelivered(const Message& message, Undelivered::What what, std::uint64_t number,
                       const std::string& reason) {
  BOOST_REQUIRE(std::holds_alternative<Undelivered>(message));
  const auto& undelivered = std::get<Undelivered>(message);
  BOOST_TEST((undelivered.what == what && undelivered.number == number));
  BOOST_TEST((undelivered.reason.code == Code::resource_exhausted));
  BOOST_TEST(undelivered.reason.message.find(reason) != std::string::npos, undelivered.reason.message);
}

}  // namespace

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

BOOST_AUTO_TEST_CASE(a_tensor_above_the_limit_of_a_peer_fails_its_step_and_nothing_else) {
  Pair pair({.max_incoming_bytes = 1 << 20, .window_bytes = 1 << 20});
  pair.sender.link->send(TensorDelivery{1, 0, counting(1 << 18)});
  pair.sender.link->send(RunGraph{7, 2, 0, {{0, counting(1 << 18)}}, false});
  StepDone with_result;
  with_result.step = 3;
  with_result.retvals.emplace_back(0, counting(1 << 18));
  pair.sender.link->send(std::move(with_result));
  pair.sender.link->send(TensorDelivery{4, 0, counting(elements)});
  pair.sender.link->send(Shutdown{"after all of them"});
  const std::string both = "of 1052672 bytes is over its limit of 1048576 bytes";
  check_undelivered(pair.next(), Undelivered::What::tensor, 1, both);
  check_undelivered(pair.next(), Undelivered::What::run, 2, both);
  const auto done = std::get<StepDone>(pair.next());
  BOOST_TEST((done.step == 3 && done.retvals.empty() && done.status.code == Code::resource_exhausted));
  BOOST_TEST(pair.next_step() == 4u);
  // It waits for so many large messages, of which three were replaced.
  BOOST_TEST(std::holds_alternative<Shutdown>(pair.next()));
  BOOST_TEST(pair.sender.down.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_message_between_actors_above_the_limit_comes_without_its_tensors) {
  Pair pair({.max_incoming_bytes = 1 << 20, .window_bytes = 1 << 20});
  pair.sender.link->send(ActorMessage{.to = "there",
                                      .from = "here",
                                      .type = "what",
                                      .request = 3,
                                      .content = Tensor::zeros(DType::uint8, {3}),
                                      .payload = Tensor::zeros(DType::uint8, {1 << 20}),
                                      .status = {}});
  const auto emptied = std::get<ActorMessage>(pair.next());
  BOOST_TEST((emptied.to == "there" && emptied.from == "here" && emptied.type == "what"));
  BOOST_TEST((emptied.request == 3 && !emptied.content.valid() && !emptied.payload.valid()));
  BOOST_TEST((emptied.status.code == Code::resource_exhausted), emptied.status.to_string());
  BOOST_TEST(emptied.status.message.find("over its limit of 1048576 bytes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_graph_above_the_limit_fails_its_registration) {
  Pair pair({.max_incoming_bytes = 1 << 20, .window_bytes = 1 << 20});
  Graph graph;
  graph.constant(counting(1 << 18));
  pair.sender.link->send(RegisterGraph{5, graph.def(), false});
  check_undelivered(pair.next(), Undelivered::What::graph, 5, "over its limit of 1048576 bytes");
}

// The receiver holds what it takes, and gives nothing back.
BOOST_AUTO_TEST_CASE(a_tensor_for_which_there_is_never_room_fails_its_step_and_says_what_holds_it) {
  for (const std::size_t shared_memory_bytes : {std::size_t{0}, std::size_t{16} << 20}) {
    Mailbox<std::string> warnings;
    Pair pair({.max_incoming_bytes = 2 << 20,
               .window_bytes = 1 << 20,
               .window_patience_ms = 5,
               .full_window_timeout_ms = 1'500,
               .shared_memory_bytes = shared_memory_bytes,
               .on_warning = [&](const std::string& text) { warnings.put(text); }});
    for (StepId step = 1; step <= 4; ++step)
      pair.sender.link->send(TensorDelivery{step, 0, counting(elements)});
    std::vector<Message> held;
    for (int i = 0; i < 3; ++i) held.push_back(pair.next());
    const std::string holders =
        "1855488 bytes of 3 tensors (618496 of step 3, 618496 of step 2, 618496 of step 1)";
    const std::string warning = warnings.take().value_or("");
    BOOST_TEST(warning.find("cannot send to /job:ps/task:0") != std::string::npos, warning);
    BOOST_TEST(warning.find(holders) != std::string::npos, warning);
    check_undelivered(pair.next(), Undelivered::What::tensor, 4, holders);
    held.clear();
    pair.sender.link->send(TensorDelivery{5, 0, counting(elements)});
    BOOST_TEST(pair.next_step() == 5u);
  }
}

BOOST_AUTO_TEST_CASE(a_tensor_for_which_the_receiver_has_no_memory_fails_its_step_and_nothing_else) {
  SmallMemory memory(1 << 20);
  const auto small = make_rpc_network(ops(), memory, {.shared_memory_bytes = 0});
  const auto network = make_rpc_network(ops(), heap(), {.shared_memory_bytes = 0});
  Receiver receiver(*small, task("ps", 0));
  Sender sender(*network, receiver.address(), task("worker", 1), {"ps", 0});
  sender.link->send(TensorDelivery{1, 0, counting(1 << 20)});
  sender.link->send(RunGraph{7, 2, 0, {{0, counting(elements)}, {1, counting(1 << 20)}}, false});
  sender.link->send(TensorDelivery{3, 0, counting(elements)});
  check_undelivered(*receiver.messages.take(), Undelivered::What::tensor, 1, "no 4194304 bytes");
  check_undelivered(*receiver.messages.take(), Undelivered::What::run, 2, "no 4194304 bytes");
  const auto delivery = receiver.messages.take();
  BOOST_TEST(identical(std::get<TensorDelivery>(*delivery).tensor, counting(elements)));
  BOOST_TEST(sender.down.size() == 0u);
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
