// Synchronous training on real servers, step by step, held against values computed by hand.
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "actors/actorflow.h"
#include "actors/probes/handler_probe.h"
#include "dataflow/ops/training_ops.h"
#include "test/support/hang_limit.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(synchronous)

using namespace actorflow;
using test::status_of;

namespace {

const Sgd half{0.5};

// loss = mean(a x) + mean(b y): the gradients are the fed x and y, for variables of one element.
struct Replica {
  Graph g;
  Variable step, a, b;
  Output x, y, pushed_a;
  TrainOp train;
  std::unique_ptr<Session> session;

  Replica(LocalCluster& tasks, const Replication& replication) {
    g.on(replica_device_setter(1, "ps", "/job:worker/task:" + std::to_string(replication.replica)), [&] {
      step = global_step(g);
      a = g.variable("a", g.constant(Tensor::of<float>({1}, {1.0F})));
      b = g.variable("b", g.constant(Tensor::of<float>({1}, {1.0F})));
      x = g.placeholder(DType::float32, {1}, "x");
      y = g.placeholder(DType::float32, {1}, "y");
      train = minimize(g, mean(a.value() * x) + mean(b.value() * y), {a, b}, step, half, replication);
    });
    for (NodeId id = 0; id < g.def().size(); ++id)
      if (g.def().node(id).name == "train/accumulate/a") pushed_a = {&g, {id, 0}};
    session = std::make_unique<Session>(tasks.server("worker", replication.replica).target(), g);
  }

  Feeds feeds(float gradient) const {
    const Tensor value = Tensor::of<float>({1}, {gradient});
    return {{x, value}, {y, value}};
  }
  // The global step after the step, which this replica works on next.
  std::int64_t run(float gradient) {
    return session->run(train, feeds(gradient)).scalar<std::int64_t>();
  }
  void begin() { session->run({}, {}, {train.local_init}); }
  // As far as a replica comes that dies between its two variables.
  void push_a_only(float gradient) { session->run(pushed_a, feeds(gradient)); }
};

using Steps = std::pair<std::int64_t, std::int64_t>;

// Lets the coordinator hear of an applied gradient only when the variables have been cleared. Actors may
// look at it after the test: it is never destroyed.
class ClearedBefore final : public HandlerProbe {
 public:
  void made(const HandlerName&) override {}
  void before(const HandlerName& handler) override {
    if (handler != HandlerName{"coordinator", "GradientApplied"} || !armed) return;
    std::unique_lock lock(mutex);
    held = true;
    changed.notify_all();
    changed.wait_for(lock, test::hang_limit, [this] { return cleared; });
  }
  void after(const HandlerName& handler) override {
    const std::scoped_lock lock(mutex);
    if (handler == HandlerName{"parameter-shard", "ClearContainers"}) cleared = true;
    if (handler == HandlerName{"parameter-shard", "SetGlobalStep"}) told = true;
    changed.notify_all();
  }
  bool wait_until(const bool& flag) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, test::hang_limit, [&flag] { return flag; });
  }

  std::atomic<bool> armed{false};
  bool held = false, cleared = false, told = false;

 private:
  std::mutex mutex;
  std::condition_variable changed;
};

struct Training {
  LocalCluster tasks;
  Replication replication;
  std::vector<std::unique_ptr<Replica>> replicas;

  Training(int workers, const Synchronous& strategy)
      : tasks({{"ps", 1}, {"worker", workers}}), replication{.replicas = workers, .strategy = strategy} {
    for (int i = 0; i < workers; ++i) replicas.push_back(start(i));
    replicas[0]->session->initialize_variables();
    for (auto& replica : replicas) replica->begin();
  }

  std::unique_ptr<Replica> start(int replica) {
    replication.replica = replica;
    return std::make_unique<Replica>(tasks, replication);
  }
  void restart(int replica) {
    auto& r = replicas[static_cast<std::size_t>(replica)];
    r.reset();
    r = start(replica);
    r->begin();
  }
  Replica& operator[](std::size_t i) { return *replicas[i]; }
  // One step of both at once: the global steps after it.
  Steps run_both(float first, float second) {
    std::int64_t other = 0;
    std::jthread worker([&] { other = replicas[1]->run(second); });
    const auto own = replicas[0]->run(first);
    worker.join();
    return {own, other};
  }
  float a() { return replicas[0]->session->run(replicas[0]->a).values<float>()[0]; }
  float b() { return replicas[0]->session->run(replicas[0]->b).values<float>()[0]; }
  // Of variable a: counted, stale, repeated, not finite of each replica.
  std::vector<std::int64_t> counts() {
    const Tensor t = replicas[0]->session->run(replicas[0]->train.gradient_counts[0]);
    const auto values = t.values<std::int64_t>();
    return {values.begin(), values.end()};
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(two_replicas_step_by_step) {
  Training t(2, {});
  // mean(1, 3) = 2: 1 - 0.5 * 2 = 0.  mean(-2, -2) = -2: 0 + 1 = 1.  mean(0, 1) = 0.5: 1 - 0.25 = 0.75.
  std::int64_t step = 0;
  for (const auto& [first, second, weight] :
       {std::tuple{1.0F, 3.0F, 0.0F}, std::tuple{-2.0F, -2.0F, 1.0F}, std::tuple{0.0F, 1.0F, 0.75F}}) {
    ++step;
    BOOST_TEST((t.run_both(first, second) == Steps{step, step}));
    BOOST_TEST(t.a() == weight);
    BOOST_TEST(t.b() == weight);
  }
  BOOST_TEST(t.counts() == (std::vector<std::int64_t>{3, 0, 0, 0, 3, 0, 0, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_news_of_a_step_does_not_bring_back_a_global_step_that_was_cleared) {
  static auto& probe = *new ClearedBefore;
  handler_probe = &probe;
  {
    Training t(1, {});
    probe.armed = true;
    std::jthread step([&] { BOOST_TEST(!status_of([&] { t[0].run(1); }).ok()); });
    BOOST_TEST(probe.wait_until(probe.held));
    const auto& target = t.tasks.server("worker", 0).target();
    Session::reset(target, {""});
    BOOST_TEST(probe.wait_until(probe.told));
    const auto missing = Session(target, t[0].g).uninitialized_variables();
    BOOST_TEST(std::ranges::count(missing, "global_step") == 1);
  }
  handler_probe = nullptr;
}

BOOST_AUTO_TEST_CASE(the_gradient_of_a_backup_worker_is_dropped_in_each_step) {
  Training t(3, {.replicas_to_aggregate = 2});
  float weight = 1;
  for (int step = 1; step <= 3; ++step) {
    t.run_both(1, 3);
    weight -= 1;  // 0.5 * mean(1, 3)
    BOOST_TEST(t.a() == weight);
    // The third comes late: it takes its token, and changes nothing.
    BOOST_TEST(t[2].run(100) == step);
    BOOST_TEST(t.a() == weight);
  }
  BOOST_TEST(t.counts() == (std::vector<std::int64_t>{3, 0, 0, 0, 3, 0, 0, 0, 0, 3, 0, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(two_replicas_make_three_contributions_to_each_step) {
  Training t(2, {.replicas_to_aggregate = 3, .initial_tokens = 1});
  // Step 0: replica 0 makes two, the second with the initial token. mean(1, 2, 6) = 3.
  BOOST_TEST(t[0].run(1) == 0);
  BOOST_TEST((t.run_both(2, 6) == Steps{1, 1}));
  BOOST_TEST(t.a() == -0.5F);
  // Step 1: three tokens, one kept for each; replica 1 takes the third. mean(3, 3, 0) = 2.
  BOOST_TEST(t[1].run(3) == 1);
  BOOST_TEST((t.run_both(0, 3) == Steps{2, 2}));
  BOOST_TEST(t.a() == -1.5F);
}

BOOST_AUTO_TEST_CASE(six_replicas_learn_the_same_bits_in_whatever_order_they_come) {
  constexpr std::array gradients{0.1F, 3e5F, -7e-3F, 0.7F, -3e5F, 1e-6F};
  std::array<std::size_t, 6> order{0, 1, 2, 3, 4, 5};
  std::optional<float> expected;
  for (int turn = 0; turn < 6; ++turn) {
    Training t(6, {});
    for (const std::size_t replica : order) t[replica].push_a_only(gradients[replica]);
    if (!expected) expected = t.a();
    BOOST_TEST(t.a() == *expected);
    BOOST_TEST(t.a() == 1 - 0.5F / 6 * (0.8F - 7e-3F), boost::test_tools::tolerance(1e-5F));
    std::ranges::rotate(order, order.begin() + 1);
    std::ranges::reverse(std::span(order).first(3));
  }
}

BOOST_AUTO_TEST_CASE(a_replica_that_dies_amid_its_gradients_makes_them_again_but_they_count_once) {
  Training undisturbed(2, {}), t(2, {});
  for (Training* training : {&undisturbed, &t}) training->run_both(0.2F, 0.1F);
  t[1].push_a_only(0.3F);
  t.restart(1);
  for (Training* training : {&undisturbed, &t})
    BOOST_TEST((training->run_both(0.4F, 0.3F) == Steps{2, 2}));
  BOOST_TEST(t.a() == undisturbed.a());
  BOOST_TEST(t.b() == undisturbed.b());
  BOOST_TEST(t.counts() == (std::vector<std::int64_t>{2, 0, 0, 0, 2, 0, 1, 0}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_replica_that_dies_before_its_token_comes_takes_it_in_its_next_life) {
  Training t(2, {});
  Status lost;
  std::jthread waiting([&, old = t.replicas[1].get()] { lost = status_of([&] { old->run(3); }); });
  while (t.counts()[4] == 0) std::this_thread::yield();
  t[1].session->close();
  waiting.join();
  BOOST_TEST((lost.code == Code::cancelled));
  t.restart(1);
  BOOST_TEST((t.run_both(1, 3) == Steps{1, 1}));
  BOOST_TEST(t.a() == 0.0F);
  BOOST_TEST(t.b() == 0.0F);
  BOOST_TEST(t[0].session->run(t[0].step).scalar<std::int64_t>() == 1);
}

BOOST_AUTO_TEST_CASE(replicas_that_disagree_are_told_so) {
  Training t(2, {});
  t.replication.strategy = Synchronous{.replicas_to_aggregate = 1};
  auto other = t.start(1);
  const Status status = status_of([&] { other->begin(); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("start every replica with the same settings") != std::string::npos,
             status.message);
}

BOOST_AUTO_TEST_CASE(the_learning_rate_follows_the_global_step) {
  LocalCluster tasks({{"ps", 1}, {"worker", 1}});
  for (const Strategy& strategy : {Strategy(Asynchronous{}), Strategy(Synchronous{})}) {
    Graph g;
    Variable step, w;
    TrainOp train;
    g.on("/job:ps/task:0", [&] {
      step = global_step(g);
      w = g.variable("w", g.constant(1.0F));
    });
    // 0.5 at first, halved by each step.
    const Output rate =
        0.5 * pow(scalar_like(cast(step, DType::float64), 0.5), cast(step, DType::float64));
    g.on("/job:worker/task:0",
         [&] { train = minimize(g, w.value() * 1.0, {w}, step, half, {.strategy = strategy}, rate); });
    Session s(tasks.server("worker", 0).target(), g);
    s.initialize_variables();
    for (const float expected : {0.5F, 0.25F, 0.125F}) {
      s.run(train);
      BOOST_TEST(s.run(w).scalar<float>() == expected);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
