// What an agent says of the attempts that it is given.
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <string>

#include "actors/probes/handler_probe.h"
#include "test/actors/support/failing_memory.h"
#include "test/jobs/support/lone_agent.h"

BOOST_AUTO_TEST_SUITE(agents)

using namespace actorflow;

namespace {

// On the agent's thread, when it gets an attempt for the first time, memory is short some allocations
// later.
class ShortOfMemory final : public HandlerProbe {
 public:
  explicit ShortOfMemory(std::uint64_t allocations) : allocations_(allocations) { handler_probe = this; }
  ~ShortOfMemory() override { handler_probe = nullptr; }

  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override {
    if (handler.message == "RunPart" && !begun_) test::fail_allocation(allocations_);
  }
  void after(const HandlerName& handler) override {
    if (handler.message == "RunPart" && !std::exchange(begun_, true)) left_ = test::allocations_left();
  }

  std::uint64_t left() const { return left_; }

 private:
  const std::uint64_t allocations_;
  bool begun_ = false;
  std::uint64_t left_ = 0;
};

}  // namespace

// Of the numbers that are left out there are copies: in what the agent knows of the attempt, and in what
// the actor that runs it is given.
BOOST_AUTO_TEST_CASE(an_attempt_that_cannot_begin_is_given_back_and_comes_again) {
  RunPart order{{2, 0, 0}, std::vector<std::uint64_t>(1000), {}, {}};
  std::iota(order.skips.begin(), order.skips.end(), 0);
  const ShortOfMemory probe(1500);
  test::LoneAgent agent([](Part&) {});
  agent.mail->to_agent(0, order);
  const auto refused = agent.not_run();
  BOOST_TEST((refused.id == order.id));
  BOOST_TEST((refused.status.code == Code::resource_exhausted), refused.status.to_string());
  BOOST_TEST(!refused.missing);
  agent.mail->to_agent(0, order);
  const auto ran = agent.inbox.ran.take();
  BOOST_REQUIRE(ran);
  BOOST_TEST(ran->status.ok(), ran->status.to_string());
  BOOST_TEST(probe.left() == 0u);
}

BOOST_AUTO_TEST_CASE(an_attempt_of_what_there_is_not_is_refused) {
  test::LoneAgent agent([](Part&) {});
  const auto refusal = [&](const RunPart& order) {
    agent.mail->to_agent(0, order);
    const auto refused = agent.not_run();
    BOOST_TEST((refused.status.code == Code::invalid_argument), refused.status.to_string());
    return refused.status.message;
  };
  const auto reads = [](SliceSet set, std::vector<std::int32_t> holders) {
    RunPart order{{2, 0, 0}, {}, {}, {}};
    order.inputs.emplace_back(set, std::move(holders));
    return order;
  };
  BOOST_TEST(refusal(RunPart{{2, 2, 0}, {}, {}, {}}) ==
             "expected a part of sum, which has 2, got part 2");
  BOOST_TEST(refusal(reads({1, true, 7}, {0})) ==
             "stage run 1: expected one of its 1 parts and 1 partitions, got part 7 and partition 0");
  BOOST_TEST(refusal(reads({1, false, 7}, {0})) ==
             "stage run 1: expected one of its 1 parts and 1 partitions, got part 0 and partition 7");
  BOOST_TEST(refusal(reads({1, false, 0}, {0, 0})) ==
             "stage run 1: expected who holds 1 parts, got 2 tasks");
  BOOST_TEST(refusal(reads({1, true, 0}, {1})) ==
             "stage run 1: expected one of 1 tasks that holds part 0, got task 1");
}

BOOST_AUTO_TEST_SUITE_END()
