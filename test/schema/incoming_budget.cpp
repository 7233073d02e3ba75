// What the large tensors of all peers of a task may take together: every peer gets on, and no more is
// here than the budget and a message of each.
#include "schema/rpc/incoming_budget.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dataflow/values/borrowed_buffer.h"
#include "test/schema/support/tasks.h"
#include "test/support/contains.h"

BOOST_AUTO_TEST_SUITE(incoming_budget)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t elements = 150 << 10;
constexpr std::size_t size_bytes = 600 << 10;

// A timer that lacks the memory for a wait when a test says so.
struct ScarceTimer final : kj::Timer {
  explicit ScarceTimer(kj::TimePoint start) : timer(start) {}
  kj::TimePoint now() const override { return timer.now(); }
  kj::Promise<void> atTime(kj::TimePoint time) override {
    if (lacks_memory) throw std::bad_alloc();
    return timer.atTime(time);
  }
  kj::Promise<void> afterDelay(kj::Duration delay) override { return atTime(now() + delay); }

  kj::TimerImpl timer;
  bool lacks_memory = false;
};

// A budget of 100 bytes, whose time goes on when a test says so.
struct SmallBudget {
  using Room = IncomingBudget::Room;

  // What a peer has asked for.
  struct Asked {
    std::optional<Room> room;
    Status refusal;
    kj::Promise<void> waits = nullptr;
  };

  std::unique_ptr<Asked> ask(IncomingBudget::Share& share, std::size_t bytes) {
    auto asked = std::make_unique<Asked>();
    asked->waits = share.ask(bytes)
                       .then([it = asked.get()](IncomingBudget::Grant grant) {
                         it->refusal = grant.status;
                         if (grant.status.ok()) it->room = std::move(grant.room);
                       })
                       .eagerlyEvaluate(nullptr);
    scope.poll();
    return asked;
  }
  void release(Asked& asked, IncomingBudget::Share& share) {
    asked.room.reset();
    share.released();
    scope.poll();
  }
  void pass(std::int64_t ms) {
    for (; ms > 0; ms -= 500) {
      now += 500 * kj::MILLISECONDS;
      timer.timer.advanceTo(now);
      scope.poll();
    }
  }
  ~SmallBudget() { budget->stop(); }

  kj::EventLoop loop;
  kj::WaitScope scope{loop};
  kj::TimePoint now = kj::origin<kj::TimePoint>();
  ScarceTimer timer{now};
  std::vector<std::string> warnings;
  bool lacks_memory = false;  // for a warning
  std::shared_ptr<IncomingBudget> budget =
      std::make_shared<IncomingBudget>(timer, RpcOptions{.incoming_budget_bytes = 100,
                                                         .full_window_timeout_ms = 10'000,
                                                         .on_warning = [this](const std::string& text) {
                                                           if (lacks_memory) throw std::bad_alloc();
                                                           warnings.push_back(text);
                                                         }});
  IncomingBudget::Share a = budget->share("A"), b = budget->share("B"), c = budget->share("C");
};

// The heap, and the most of it that has been in use.
class Measured final : public Allocator {
 public:
  BufferRef allocate(std::size_t bytes) override {
    const std::size_t held = held_ += bytes;
    for (std::size_t most = peak_; most < held && !peak_.compare_exchange_weak(most, held);) continue;
    return BufferRef(new Block(heap().allocate(bytes), bytes, held_));
  }
  std::size_t peak_bytes() const { return peak_; }

 private:
  class Block final : public Buffer {
   public:
    Block(BufferRef bytes, std::size_t size, std::atomic<std::size_t>& held)
        : Buffer(bytes->data(), size, borrower()), bytes_(std::move(bytes)), held_(held) {}
    ~Block() override { held_ -= size_bytes(); }

   private:
    BufferRef bytes_;
    std::atomic<std::size_t>& held_;
  };
  void release(Buffer*) override {}  // its buffers end by themselves
  std::atomic<std::size_t> held_{0}, peak_{0};
};

// A task with a budget, and peers of it on other networks.
struct Crowd {
  Crowd(int peers, const RpcOptions& options)
      : receiving(make_rpc_network(ops(), memory, options)),
        sending(make_rpc_network(ops(), heap(), options)),
        receiver(*receiving, task("ps", 0)) {
    for (int i = 0; i < peers; ++i)
      senders.push_back(
          std::make_unique<Sender>(*sending, receiver.address(), task("worker", i), TaskName{"ps", 0}));
  }
  void send(std::size_t peer, StepId step) {
    senders[peer]->link->send(TensorDelivery{step, 0, counting(elements)});
  }
  Message next() {
    auto message = receiver.messages.take();
    BOOST_REQUIRE(message);
    return std::move(*message);
  }

  Measured memory;
  std::unique_ptr<Network> receiving, sending;
  Receiver receiver;
  std::vector<std::unique_ptr<Sender>> senders;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_peer_that_has_nothing_here_gets_room_at_once, SmallBudget) {
  const auto first = ask(a, 70), larger = ask(b, 1000), other = ask(c, 50);
  for (const auto* asked : {&first, &larger, &other}) BOOST_TEST((*asked)->room.has_value());
  BOOST_TEST(!ask(a, 1)->room.has_value());
}

BOOST_FIXTURE_TEST_CASE(what_is_over_the_budget_waits_for_what_ends, SmallBudget) {
  const auto first = ask(a, 60), of_b = ask(b, 30), second = ask(a, 20);
  BOOST_TEST(!second->room.has_value());
  release(*of_b, b);
  BOOST_TEST(second->room.has_value());
}

BOOST_FIXTURE_TEST_CASE(room_is_lent_in_the_order_in_which_it_was_asked_for, SmallBudget) {
  const auto of_a = ask(a, 40), of_b = ask(b, 40), of_c = ask(c, 10);
  const auto large = ask(a, 60), small = ask(b, 10);
  release(*of_c, c);  // the small one would fit now
  BOOST_TEST(!large->room.has_value());
  BOOST_TEST(!small->room.has_value());
  release(*of_b, b);
  BOOST_TEST(large->room.has_value());
  BOOST_TEST(small->room.has_value());
}

BOOST_FIXTURE_TEST_CASE(a_peer_that_has_nothing_left_here_waits_for_nobody, SmallBudget) {
  const auto of_a = ask(a, 90), of_b = ask(b, 10);
  const auto large = ask(a, 60), small = ask(b, 20);
  release(*of_b, b);
  BOOST_TEST(!large->room.has_value());
  BOOST_TEST(small->room.has_value());
}

BOOST_FIXTURE_TEST_CASE(who_asks_no_more_holds_up_nobody, SmallBudget) {
  const auto of_a = ask(a, 50), of_b = ask(b, 20);
  auto large = ask(a, 90);
  const auto small = ask(b, 20);
  BOOST_TEST(!small->room.has_value());
  large.reset();
  a.released();
  scope.poll();
  BOOST_TEST(small->room.has_value());
}

BOOST_FIXTURE_TEST_CASE(what_waits_is_reported_and_refused_while_nothing_ends, SmallBudget) {
  const auto of_a = ask(a, 60), of_b = ask(b, 30), of_c = ask(c, 5), second = ask(a, 20);
  pass(2'000);
  BOOST_TEST_REQUIRE(warnings.size() == 1U);
  BOOST_TEST(contains(warnings[0], "what A sends yet: 20 bytes of tensors wait"), warnings[0]);
  pass(6'000);
  release(*of_c, c);  // it is still too much, but there is hope again
  pass(6'000);
  BOOST_TEST(second->refusal.ok());
  pass(6'000);
  BOOST_TEST((second->refusal.code == Code::resource_exhausted), second->refusal.to_string());
  BOOST_TEST(contains(second->refusal.message, "holds 90 bytes (60 of A, 30 of B)"),
             second->refusal.message);
  BOOST_TEST(contains(second->refusal.message, "100 of all peers at a time"), second->refusal.message);
  release(*of_b, b);
  BOOST_TEST(ask(a, 20)->room.has_value());
}

BOOST_FIXTURE_TEST_CASE(what_waits_ends_also_if_there_was_no_memory_to_say_so, SmallBudget) {
  const auto of_a = ask(a, 60), of_b = ask(b, 40), more_of_a = ask(a, 10), more_of_b = ask(b, 10);
  lacks_memory = true;
  pass(4'000);
  lacks_memory = false;
  pass(8'000);
  for (const auto* asked : {&more_of_a, &more_of_b})
    BOOST_TEST(((*asked)->refusal.code == Code::resource_exhausted), (*asked)->refusal.to_string());
}

BOOST_FIXTURE_TEST_CASE(who_asks_again_is_looked_at_if_there_was_no_memory_to_look, SmallBudget) {
  const auto of_a = ask(a, 60), of_b = ask(b, 40);
  timer.lacks_memory = true;
  BOOST_CHECK_THROW(a.ask(10), std::bad_alloc);
  timer.lacks_memory = false;
  const auto again = ask(a, 10);
  pass(12'000);
  BOOST_TEST((again->refusal.code == Code::resource_exhausted), again->refusal.to_string());
}

BOOST_FIXTURE_TEST_CASE(nobody_waits_for_a_look_that_there_is_no_memory_for, SmallBudget) {
  const auto of_a = ask(a, 60), of_b = ask(b, 40), more_of_a = ask(a, 10), more_of_b = ask(b, 10);
  timer.lacks_memory = true;
  pass(2'000);
  for (const auto* asked : {&more_of_a, &more_of_b})
    BOOST_TEST((*asked)->refusal.message == "out of memory");
  timer.lacks_memory = false;
  const auto again = ask(a, 10);
  pass(12'000);
  BOOST_TEST(contains(again->refusal.message, "has given none back"), again->refusal.message);
}

// Their tensors may live on, and end without a word.
BOOST_FIXTURE_TEST_CASE(what_a_peer_that_has_gone_held_is_lent_again, SmallBudget) {
  BufferRef left = ask(b, 90)->room->take(heap().allocate(90), 90);
  const auto of_a = ask(a, 10), second = ask(a, 20);
  BOOST_TEST(!second->room.has_value());
  left = {};
  pass(1'000);
  BOOST_TEST(second->room.has_value());
}

BOOST_AUTO_TEST_CASE(tensors_of_several_peers_come_within_the_budget) {
  constexpr std::size_t peers = 4, each = 6, budget = 2 << 20;
  Crowd crowd(peers, {.incoming_budget_bytes = budget, .shared_memory_bytes = 0});
  for (StepId step = 0; step < each; ++step)
    for (std::size_t peer = 0; peer < peers; ++peer) crowd.send(peer, step);
  std::vector<Message> held;
  for (std::size_t i = 0; i < peers; ++i) held.push_back(crowd.next());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // time to take too much
  for (std::size_t i = peers; i < peers * each; ++i) {
    // So that another one fits, whoever sends it: a peer of which nothing is here may have sent all.
    while ((held.size() + 1) * size_bytes > budget) held.erase(held.begin());
    held.push_back(crowd.next());
    BOOST_TEST(identical(std::get<TensorDelivery>(held.back()).tensor, counting(elements)));
  }
  BOOST_TEST(crowd.memory.peak_bytes() >= peers * size_bytes);
  BOOST_TEST(crowd.memory.peak_bytes() <= budget + peers * size_bytes);
}

BOOST_AUTO_TEST_CASE(a_step_that_needs_a_tensor_of_each_peer_goes_on_without_any_budget) {
  constexpr std::size_t peers = 5;
  Crowd crowd(peers, {.incoming_budget_bytes = 1, .shared_memory_bytes = 0});
  for (std::size_t peer = 0; peer < peers; ++peer) crowd.send(peer, 1);
  std::vector<Message> held;
  for (std::size_t i = 0; i < peers; ++i) held.push_back(crowd.next());
  BOOST_TEST(held.size() == peers);
}

BOOST_AUTO_TEST_CASE(a_tensor_for_which_there_is_never_room_fails_its_step_and_nothing_else) {
  Crowd crowd(2, {.incoming_budget_bytes = 1, .full_window_timeout_ms = 500, .shared_memory_bytes = 0});
  crowd.send(0, 1);
  crowd.send(0, 2);
  Message held = crowd.next();
  BOOST_TEST(std::get<TensorDelivery>(held).step == 1U);
  const Message failed = crowd.next();
  BOOST_TEST_REQUIRE(std::holds_alternative<Undelivered>(failed));
  const auto& undelivered = std::get<Undelivered>(failed);
  BOOST_TEST(undelivered.number == 2U);
  BOOST_TEST((undelivered.reason.code == Code::resource_exhausted));
  BOOST_TEST(contains(undelivered.reason.message, "614400 of /job:worker/task:0"),
             undelivered.reason.message);
  crowd.send(1, 3);  // another peer goes on meanwhile
  BOOST_TEST(std::get<TensorDelivery>(crowd.next()).step == 3U);
  held = {};
  crowd.send(0, 4);
  BOOST_TEST(std::get<TensorDelivery>(crowd.next()).step == 4U);
  BOOST_TEST(crowd.senders[0]->down.size() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
