// Every allocation that a parameter shard makes in a training step fails once: each variable is then as
// before the step or as after it, and the same step made again, and those after it, give the bits of an
// undisturbed run.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "actors/actorflow.h"
#include "actors/probes/handler_probe.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/actors/support/failing_memory.h"

BOOST_AUTO_TEST_SUITE(failed_updates)

using namespace actorflow;

namespace {

// Lets one allocation fail of those that the handlers of the shard's ops make. Actors may look at it
// after the step that it was meant for: it is never destroyed.
class OutOfMemory final : public HandlerProbe {
 public:
  static OutOfMemory& instance() {
    static auto* instance = new OutOfMemory;
    return *instance;
  }

  // From now on; 0: none.
  void fail(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    left_ = n;
    ++round_;
  }
  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override {
    const std::lock_guard lock(mutex_);
    begun_in_ = round_;
    test::fail_allocation(is_ours(handler) ? left_ : 0);
  }
  void after(const HandlerName& handler) override {
    const auto left = test::allocations_left();
    const std::lock_guard lock(mutex_);
    if (is_ours(handler) && begun_in_ == round_) left_ = left;
  }

 private:
  static bool is_ours(const HandlerName& handler) {
    return handler.message == "StateCall" && handler.actor == "parameter-shard";
  }

  static inline thread_local std::uint64_t begun_in_ = 0;
  std::mutex mutex_;
  std::uint64_t left_ = 0, round_ = 0;
};

struct Variant {
  Optimizer optimizer;
  Strategy strategy = Asynchronous{};
};

// A dense variable and a table of which each step changes some rows, one of them twice.
struct Training {
  LocalCluster cluster;
  Graph g;
  Variable step, w, table;
  Output ids;
  TrainOp train;
  std::unique_ptr<MonitoredSession> session;

  Training(const Variant& variant, const std::shared_ptr<Runtime>& runtime)
      : cluster({{"worker", 1}}, runtime) {
    step = global_step(g);
    w = g.variable("w", g.constant(Tensor::of<float>({3}, {1, -2, 3})));
    table = g.variable("table", fill(g, {5, 2}, 1));
    ids = g.placeholder(DType::int64, {3}, "ids");
    const Output loss = sum(square(w)) + sum(square(gather(table, ids)));
    train = minimize(g, loss, {w, table}, step, variant.optimizer, {.strategy = variant.strategy});
    MonitoredOptions options;
    options.hooks = {sync_replicas(train)};
    session = std::make_unique<MonitoredSession>(cluster.server("worker", 0), g, options);
  }

  // False if it has failed.
  bool run_step(std::int64_t number) {
    const Feeds feeds = {
        {ids, Tensor::of<std::int64_t>({3}, {number % 5, (number + 2) % 5, number % 5})}};
    try {
      session->run({}, feeds, {train});
      return true;
    } catch (const Error& error) {
      BOOST_TEST((error.code() == Code::resource_exhausted), error.what());
      return false;
    }
  }
  std::vector<Tensor> values() {
    return session->session().run({Output(step), Output(w), Output(table)});
  }
};

bool same(const Tensor& a, const Tensor& b) {
  return a.size_bytes() == b.size_bytes() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

void expect_same(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                 std::uint64_t n) {
  for (std::size_t i = 0; i < actual.size(); ++i)
    BOOST_TEST(same(actual[i], expected[i]), "allocation " << n << ": variable " << i << " is another");
}

// Whether that allocation of the step was made, and failed. `runs`: the values after each step,
// undisturbed.
bool fails_and_is_made_again(Training& training, std::int64_t step, std::uint64_t n,
                             const std::vector<std::vector<Tensor>>& runs) {
  OutOfMemory::instance().fail(n);
  const bool made = training.run_step(step);
  OutOfMemory::instance().fail(0);
  const auto at = static_cast<std::size_t>(step);
  if (!made) {
    const auto between = training.values();
    for (std::size_t i = 0; i < between.size(); ++i)
      BOOST_TEST((same(between[i], runs[at - 1][i]) || same(between[i], runs[at][i])),
                 "allocation " << n << ": variable " << i << " is half updated");
    BOOST_TEST(training.run_step(step));
  }
  expect_same(training.values(), runs[at], n);
  return !made;
}

constexpr std::int64_t steps = 1000;

// The values before the first step and after each.
std::vector<std::vector<Tensor>> undisturbed(const Variant& variant,
                                             const std::shared_ptr<Runtime>& runtime) {
  Training training(variant, runtime);
  std::vector<std::vector<Tensor>> runs{training.values()};
  for (std::int64_t step = 1; step < steps; ++step) {
    training.run_step(step);
    runs.push_back(training.values());
  }
  return runs;
}

void check_every_allocation(const Variant& variant) {
  const auto runtime = std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 2});
  const auto runs = undisturbed(variant, runtime);
  handler_probe = &OutOfMemory::instance();
  // The first step makes the slots; what it leaves behind shows in the next.
  std::uint64_t n = 0;
  for (bool failed = true; failed;) {
    Training training(variant, runtime);
    failed = fails_and_is_made_again(training, 1, ++n, runs);
    training.run_step(2);
    expect_same(training.values(), runs[2], n);
  }
  BOOST_TEST(n > 20u);
  Training training(variant, runtime);
  training.run_step(1);
  std::int64_t step = 1;
  for (n = 0; ++step < steps && fails_and_is_made_again(training, step, ++n, runs);) continue;
  handler_probe = nullptr;
  BOOST_TEST(n > 20u);
  BOOST_TEST(step < steps);
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_asynchronous_update_without_memory_changes_nothing_and_can_be_made_again) {
  check_every_allocation({Momentum{0.1, 0.9}});
  check_every_allocation({Adam{0.1}});
}

BOOST_AUTO_TEST_CASE(a_synchronous_update_without_memory_changes_nothing_and_can_be_made_again) {
  check_every_allocation({Momentum{0.1, 0.9}, Synchronous{}});
  check_every_allocation({Adam{0.1}, Synchronous{}});
}

BOOST_AUTO_TEST_SUITE_END()
