// Asynchronous training in which each update adds 1 to each variable: whatever happens to workers and
// wires, what is there at the end are the steps.
#include <boost/test/unit_test.hpp>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"
#include "dataflow/ops/training_ops.h"

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr int workers = 3;
constexpr std::int64_t steps_each = 50;

// Its gradients are -1, and each variable is on a server of its own.
struct Counting {
  Graph g;
  Variable step, a, b;
  TrainOp train;

  explicit Counting(const TaskName& worker) {
    g.on(replica_device_setter(2, "ps", worker.to_string()), [&] {
      step = global_step(g);
      a = g.variable("a", g.constant(0.0F));
      b = g.variable("b", g.constant(0.0F));
      train = minimize(g, g.constant(0.0F) - a - b, {a, b}, step, Sgd{1},
                       {.replica = worker.index, .replicas = workers});
    });
  }
};

// A worker that comes back goes on counting where its earlier life was stopped.
void train(MonitoredSession& session, const Counting& model, int replica) {
  while (!session.should_stop())
    session.run_step([&](StepContext& step) {
      const Tensor counts = step.session().run(model.train.step_counts);
      if (counts.values<std::int64_t>()[static_cast<std::size_t>(gradient_count_fields * replica)] ==
          steps_each)
        step.request_stop();
      else
        step.run(model.train);
    });
}

bool have_all_counted(Session& session, const Counting& model) {
  const Tensor counts = session.run(model.train.step_counts);
  for (int replica = 0; replica < workers; ++replica)
    if (counts.values<std::int64_t>()[static_cast<std::size_t>(gradient_count_fields * replica)] <
        steps_each)
      return false;
  return true;
}

// On the chief: a, b and the global step at the end.
std::vector<float> count(SimTask& task) {
  Server& server = task.server();
  const TaskName chief{"worker", 0};
  Counting model(server.name());
  MonitoredOptions options;
  options.is_chief = server.name() == chief;
  options.max_wait_secs = 120;
  options.hooks = {sync_replicas(model.train)};
  MonitoredSession session(server, model.g, options);
  train(session, model, server.name().index);
  if (!options.is_chief) {
    server.join_for(60'000);  // who is cut off from the chief does not hear from it
    return {};
  }
  while (!have_all_counted(session.session(), model)) task.sleep(100ms);
  const auto sums = session.session().run({model.a, model.b, model.step});
  server.shutdown_cluster("all have counted");
  return {sums[0].scalar<float>(), sums[1].scalar<float>(),
          static_cast<float>(sums[2].scalar<std::int64_t>())};
}

std::vector<float> run_task(SimTask& task) {
  if (task.server().name().job == "ps") return task.server().join(), std::vector<float>();
  try {
    return count(task);
  } catch (const Error& error) {
    // Killed when it had counted, and back when the others have left.
    if (error.code() != Code::deadline_exceeded || task.life() == 1) throw;
    return {};
  }
}

std::vector<TaskName> tasks(const char* job, int number) {
  std::vector<TaskName> all;
  for (int i = 0; i < number; ++i) all.push_back({job, i});
  return all;
}

// Workers die; servers only stop answering, because what they hold would be gone.
FaultPlan faults(std::uint64_t seed) {
  using enum FaultKind;
  const auto replicas = tasks("worker", workers);
  auto everybody = tasks("ps", 2);
  everybody.insert(everybody.end(), replicas.begin(), replicas.end());
  FaultPlan plan = random_fault_plan(seed, replicas, {.count = 3, .until = 300ms, .kinds = {kill}});
  const auto others = random_fault_plan(
      seed + 1, everybody,
      {.count = 3, .until = 300ms, .kinds = {pause, partition, delay, slow, lossy, late, duplicate}});
  plan.insert(plan.end(), others.begin(), others.end());
  return plan;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exactly_once)

SIMULATION_TEST(each_asynchronous_update_is_applied_once, seeds(1, 100)) {
  const SimOptions options = of_this_seed({.longest_kernel = 1ms, .restart_failed = 1s});
  SimCluster sim({{"ps", 2}, {"worker", workers}}, options);
  auto run = sim.start(run_task);
  sim.apply(faults(options.seed));
  for (const float sum : run.finish("/job:worker/task:0")) BOOST_TEST(sum == workers * steps_each);
}

BOOST_AUTO_TEST_SUITE_END()
