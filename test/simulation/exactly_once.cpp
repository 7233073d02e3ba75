// Asynchronous training in which each update adds 1 to each variable: whatever happens to workers and
// wires, what is there at the end are the steps.
#include <boost/test/unit_test.hpp>

#include "actors/simulation/simulation_test.h"
#include "test/support/counting.h"

BOOST_AUTO_TEST_SUITE(exactly_once)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

constexpr int workers = 3;
constexpr std::int64_t steps_each = 50;

// On the chief: what says at the end how many updates there were.
std::vector<std::int64_t> count(SimTask& task) {
  Server& server = task.server();
  const TaskName chief{"worker", 0};
  test::Counting model(server.name(), server.name().index, workers);
  MonitoredOptions options;
  options.is_chief = server.name() == chief;
  options.max_wait_secs = 120;
  options.hooks = {sync_replicas(model.train)};
  MonitoredSession session(server, model.g, options);
  test::count_to(steps_each, session, model, [&] { task.sleep(100ms); });
  if (!options.is_chief) return {};
  auto all = test::witnesses(session.session(), model);
  server.shutdown_cluster("all have counted");
  return all;
}

std::vector<std::int64_t> run_task(SimTask& task) {
  if (task.server().name().job == "ps") return task.server().join(), std::vector<std::int64_t>();
  try {
    return count(task);
  } catch (const Error& error) {
    // A worker that was killed or cut off, and is back when the others have left.
    if (error.code() != Code::deadline_exceeded || task.server().name().index == 0) throw;
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

SIMULATION_TEST(each_asynchronous_update_is_applied_once, seeds(1, 100)) {
  const SimOptions options = of_this_seed({.longest_kernel = 1ms, .restart_failed = 1s});
  SimCluster sim({{"ps", 2}, {"worker", workers}}, options);
  auto run = sim.start(run_task);
  sim.apply(faults(options.seed));
  const auto witnesses = run.finish("/job:worker/task:0");
  BOOST_TEST(witnesses == std::vector(witnesses.size(), workers * steps_each),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
