// Tasks that come back when their job has ended, and nobody else does: the mark of the end tells them.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/monitored/monitored_session.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/simulation/simulation_test.h"
#include "test/support/small_training.h"

BOOST_AUTO_TEST_SUITE(after_the_end)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

const std::string folder = "checkpoints";

// Trains, and returns how long that took. The process that will be killed does not end by itself.
std::chrono::nanoseconds train(SimTask& task, const test::SmallJob& job, const std::string& lost) {
  Clock& clock = task.server().runtime()->clock();
  const auto began = clock.now();
  test::train_small(task.server(), job);
  const auto took = clock.now() - began;
  if (task.server().name().to_string() == lost && task.life() == 1) task.sleep(1h);
  return took;
}

// A minute after the others have left, the task is killed, and comes back to nobody.
void expect_to_leave_soon(const test::SmallJob& job, const std::vector<std::string>& tasks) {
  const std::string& lost = tasks[of_this_seed({}).seed % tasks.size()];
  SimCluster sim(test::small_tasks<SimCluster>(job, 3), of_this_seed({}));
  auto run = sim.start([&](SimTask& task) { return train(task, job, lost); });
  sim.at(1min).kill(lost);
  sim.at(1min + 1s).restart(lost);
  // The chief tells the others of the end for a while; what is waited for in vain takes a minute.
  BOOST_TEST((run.finish(lost) < 10s), lost);
}

// The job's folder has the mark a second after a worker has begun to wait for a parameter server that
// has gone. Returns why the worker's training is over.
std::string wait_until_it_is_marked(SimTask& task) {
  Server& server = task.server();
  if (server.name().job == "ps") return "";
  if (server.name().index == 0) {
    task.sleep(1s);
    mark_complete(task.storage(), folder, 10);
    return "";
  }
  Graph g;
  g.on("/job:ps/task:0", [&] {
    global_step(g);
    g.variable("w", g.constant(0.0F));
  });
  MonitoredOptions options;
  options.is_chief = false;
  options.chief = {"worker", 0};
  options.checkpoint_dir = folder;
  options.last_step = 10;
  options.max_wait_secs = 3;  // less than its first look at the variables takes
  options.connect_timeout_ms = 3000;
  MonitoredSession session(server, g, options);
  BOOST_TEST(session.should_stop());
  return session.why_over();
}

}  // namespace

SIMULATION_TEST(a_task_that_comes_back_alone_leaves, seeds(1, 12)) {
  for (const Strategy& strategy : {Strategy(Asynchronous{}), Strategy(Synchronous{})})
    expect_to_leave_soon({.strategy = strategy, .folder = folder},
                         {"/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1",
                          "/job:worker/task:2"});
}

SIMULATION_TEST(a_rank_that_comes_back_alone_leaves, seeds(1, 6)) {
  expect_to_leave_soon({.strategy = AllReduce{}, .folder = folder},
                       {"/job:worker/task:0", "/job:worker/task:1", "/job:worker/task:2"});
}

// No task is lost: the chief and the parameter server end, and one worker waits.
SIMULATION_TEST(a_mark_that_comes_within_the_last_look_counts, seeds(1, 10)) {
  SimCluster sim({{"ps", 1}, {"worker", 2}}, of_this_seed({}));
  const std::string why = sim.start(wait_until_it_is_marked).finish("/job:worker/task:1");
  BOOST_TEST(
      why ==
      "training is complete: checkpoints/training-complete says so of 10 steps, and 10 are wanted");
}

BOOST_AUTO_TEST_SUITE_END()
