// Bounded staleness on real servers: who waits for whom, and for whom nobody waits any longer.
#include <algorithm>
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "actors/actorflow.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(bounded_staleness)

using namespace actorflow;
using test::status_of;

namespace {

// w -= x of one element for each step, whoever makes it.
struct Replica {
  Graph g;
  Variable step, w;
  Output x;
  TrainOp train;
  std::unique_ptr<Session> session;

  Replica(LocalCluster& tasks, const Replication& replication) {
    g.on(replica_device_setter(1, "ps", "/job:worker/task:" + std::to_string(replication.replica)), [&] {
      step = global_step(g);
      w = g.variable("w", g.constant(Tensor::of<float>({1}, {0.0F})));
      x = g.placeholder(DType::float32, {1}, "x");
      train = minimize(g, mean(w.value() * x), {w}, step, Sgd{1.0}, replication);
    });
    session = std::make_unique<Session>(tasks.server("worker", replication.replica).target(), g);
  }

  void run() { session->run(train, {{x, Tensor::of<float>({1}, {1.0F})}}); }
  void begin() { session->run({}, {}, {train.local_init}); }
  void leave() { session->run({}, {}, {train.leave}); }
};

struct Training {
  LocalCluster tasks;
  Replication replication;
  std::vector<std::unique_ptr<Replica>> replicas;

  Training(int workers, int bound) : tasks({{"ps", 1}, {"worker", workers}}) {
    replication.replicas = workers;
    replication.strategy = BoundedStaleness{bound};
    for (int i = 0; i < workers; ++i) replicas.push_back(start(i));
    replicas[0]->session->initialize_variables();
    for (auto& replica : replicas) replica->begin();
  }

  std::unique_ptr<Replica> start(int replica) {
    replication.replica = replica;
    return std::make_unique<Replica>(tasks, replication);
  }
  Replica& operator[](std::size_t i) { return *replicas[i]; }
  std::int64_t max_lead() {
    return replicas[0]->session->run(replicas[0]->train.max_lead).scalar<std::int64_t>();
  }
  std::int64_t global_step() {
    return replicas[0]->session->run(replicas[0]->step).scalar<std::int64_t>();
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_fast_replica_waits_for_the_slowest) {
  Training t(2, 2);
  t[0].run();
  t[0].run();
  std::atomic<bool> third = false;
  std::jthread fast([&] {
    t[0].run();
    third = true;
  });
  while (t.global_step() < 3) std::this_thread::yield();  // its update has been applied; it waits
  BOOST_TEST(!third);
  t[1].run();
  fast.join();
  BOOST_TEST(t.max_lead() == 2);
  BOOST_TEST(t[0].session->run(t[0].w).values<float>()[0] == -4.0F);
}

BOOST_AUTO_TEST_CASE(with_a_slow_replica_the_lead_is_never_above_the_bound) {
  for (const int bound : {0, 1, 4}) {
    Training t(3, bound);
    constexpr int steps = 40;
    std::array<std::atomic<int>, 3> begun{};
    std::atomic<int> worst = 0;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
          for (int step = 0; step < steps; ++step) {
            begun[i] = step;
            // A step that others have begun cannot be undone: what is seen here is no more than the
            // truth.
            const int lead = step - std::min({begun[0].load(), begun[1].load(), begun[2].load()});
            if (int seen = worst; lead > seen) worst.compare_exchange_strong(seen, lead);
            t[i].run();
            // The slow one goes on when the others have gone as far as they may.
            const int limit = std::min(step + 1 + bound, steps - 1);
            while (i == 2 && std::min(begun[0].load(), begun[1].load()) < limit)
              std::this_thread::yield();
          }
          t[i].leave();
        });
    }
    BOOST_TEST(t.max_lead() <= bound);
    BOOST_TEST(worst <= bound + 1);  // a slow thread's own note may be a step late
    BOOST_TEST(t.global_step() == 3 * steps);
  }
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_replica_that_has_left) {
  Training t(2, 0);
  std::jthread other([&] { t[1].run(); });
  t[0].run();
  other.join();
  t[1].leave();
  for (int step = 0; step < 3; ++step) t[0].run();
  BOOST_TEST(t.global_step() == 5);
}

BOOST_AUTO_TEST_CASE(a_replica_that_comes_back_starts_beside_the_slowest) {
  Training t(2, 1);
  for (int step = 0; step < 5; ++step) {
    t[0].run();
    t[1].run();
  }
  t.replicas[1].reset();
  t.replicas[1] = t.start(1);
  t[1].begin();
  t[0].run();
  std::jthread fast([&] { t[0].run(); });
  while (t.global_step() < 12) std::this_thread::yield();
  t[1].run();
  fast.join();
  BOOST_TEST(t.max_lead() == 1);
}

BOOST_AUTO_TEST_CASE(replicas_with_other_bounds_are_told_so) {
  Training t(2, 1);
  t.replication.strategy = BoundedStaleness{2};
  auto other = t.start(1);
  const Status status = status_of([&] { other->begin(); });
  BOOST_TEST((status.code == Code::invalid_argument));
  BOOST_TEST(status.message.find("is 1, but this replica wants 2") != std::string::npos, status.message);
}

BOOST_AUTO_TEST_SUITE_END()
