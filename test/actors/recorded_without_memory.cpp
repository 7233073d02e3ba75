// Steps of a task that is recorded go on where there is no memory for their record.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "actors/client/session.h"
#include "actors/probes/handler_probe.h"
#include "dataflow/ops/trace_ops.h"
#include "kernels/ops.h"
#include "test/actors/support/failing_memory.h"
#include "test/support/hang_limit.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(recorded_without_memory)

using namespace actorflow;

namespace {

// Lets an allocation fail in the next handler of an actor for a message, and knows whether the only task
// is recorded. Actors may look at it after the test: it is never destroyed.
class LacksMemory final : public HandlerProbe {
 public:
  static LacksMemory& instance() {
    static auto* instance = new LacksMemory;
    return *instance;
  }

  void arm(HandlerName handler, std::uint64_t n) {
    handler_ = handler;
    n_ = n;
    armed_ = true;
  }
  // Whether the allocation has failed and the handler has come to its end all the same.
  bool has_failed() const { return !armed_ && left_ == 0; }
  bool is_recorded() const { return recorded_; }

  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override {
    if (handler == HandlerName{"worker", "EndOfRecord"}) recorded_ = false;
    test::fail_allocation(0);
    if (!armed_ || handler != handler_) return;
    left_ = 1;
    armed_ = false;
    test::fail_allocation(n_);
  }
  void after(const HandlerName& handler) override {
    const auto left = test::allocations_left();
    if (handler == handler_) left_ = left;
    if (handler == HandlerName{"worker", "StateCall"}) recorded_ = true;
  }

 private:
  HandlerName handler_{};
  std::atomic<std::uint64_t> n_{0}, left_{0};
  std::atomic<bool> armed_{false}, recorded_{false};
};

// Allocations of a handler that are its record's: what holds the record, or the names of a node.
struct Allocations {
  HandlerName handler;
  std::uint64_t count;
};

struct RecordedSteps {
  explicit RecordedSteps(Executor executor) : session(server, g, of(executor)) {}
  static SessionOptions of(Executor executor) {
    SessionOptions options;
    options.executor = executor;
    return options;
  }

  Status step() {
    return test::status_of([this] { session.run(y, {{x, Tensor::of<float>({1}, {2})}}); });
  }
  // False if the record has ended before, so that nothing can be said.
  bool survive(const std::vector<Allocations>& all, int length_ms) {
    const Output record = record_task(of_record, length_ms)[0];
    std::int64_t dropped = 0;
    std::thread recording([&] {
      dropped = Session(server, of_record, SessionOptions{}).run(record).values<std::int64_t>()[2];
    });
    const auto limit = std::chrono::steady_clock::now() + test::hang_limit;
    while (!probe.is_recorded() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    std::vector<std::pair<Status, bool>> outcomes;
    for (const auto& [handler, count] : all)
      for (std::uint64_t n = 1; n <= count; ++n) {
        probe.arm(handler, n);
        const Status status = step();
        outcomes.emplace_back(status, probe.has_failed());
      }
    const bool was_recorded = probe.is_recorded();
    recording.join();
    if (!was_recorded) return false;
    for (const auto& [status, has_failed] : outcomes) {
      BOOST_TEST(status.ok(), status.to_string());
      BOOST_TEST(has_failed);
    }
    BOOST_TEST(dropped >= std::ssize(outcomes));
    return true;
  }

  LacksMemory& probe = LacksMemory::instance();
  LocalCluster cluster{{{"worker", 1}}};
  const std::string server = cluster.server("worker", 0).target();
  Graph g, of_record;
  Output x = g.placeholder(DType::float32, {1}, "a_name_that_takes_memory_of_its_own"), y = x + x;
  Session session;
};

void survive_on(Executor executor, const std::vector<Allocations>& all) {
  handler_probe = &LacksMemory::instance();
  {
    RecordedSteps steps(executor);
    for (int i = 0; i < 3; ++i) BOOST_TEST(steps.step().ok());  // what they keep has its size
    const auto limit = std::chrono::steady_clock::now() + test::hang_limit;
    bool survived = false;
    for (int length_ms = 500; !survived && std::chrono::steady_clock::now() < limit; length_ms *= 2)
      survived = steps.survive(all, length_ms);
    BOOST_TEST(survived, "no record was long enough");
  }
  handler_probe = nullptr;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_lane_drops_and_counts_what_it_cannot_record) {
  survive_on(Executor::lanes, {{{"lane", "StartStep"}, 5}});
}

BOOST_AUTO_TEST_CASE(a_conductor_drops_and_counts_what_it_cannot_record) {
  survive_on(Executor::node_actors, {{{"conductor", "StartStep"}, 3}, {{"conductor", "NodeDone"}, 2}});
}

BOOST_AUTO_TEST_SUITE_END()
