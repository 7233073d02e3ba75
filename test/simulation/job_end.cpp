// The end of a job, of which its tasks hear one after the other.
#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"

BOOST_AUTO_TEST_SUITE(job_end)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

// Two synchronous workers beside a parameter server; the chief ends the job after ten steps. Returns why
// it was over.
std::string train(SimTask& task) {
  Server& server = task.server();
  if (server.name().job == "ps") {
    const std::string why = server.join();
    task.sleep(1s);  // a process does not end at once
    return why;
  }
  Graph g;
  TrainOp op;
  g.on(replica_device_setter(1, "ps", server.name().to_string()), [&] {
    const Variable step = global_step(g);
    const Variable w = g.variable("w", g.constant(0.0F));
    op = minimize(g, square(w - g.constant(3.0F)), {w}, step, Sgd{0.1},
                  {.replica = server.name().index, .replicas = 2, .strategy = Synchronous{}});
  });
  const bool is_chief = server.name().index == 0;
  MonitoredOptions options;
  options.is_chief = is_chief;
  options.hooks = {sync_replicas(op)};
  if (is_chief) options.last_step = 10;
  MonitoredSession session(server, g, options);
  while (!session.should_stop()) session.run(op);
  session.close();
  if (!is_chief) return server.join();
  server.shutdown_cluster("ten steps are enough");
  task.sleep(30s);  // its words to the worker are held up
  return "";
}

// The workers close their sessions when the task that they have used has gone.
void end_late(SimTask& task) {
  Server& server = task.server();
  if (server.name().job == "ps") {
    server.join();
    return;
  }
  Graph g;
  g.on("/job:ps/task:0", [&] { return g.variable("w", g.constant(0.0F)); });
  Session session(server.target(), g);
  session.initialize_variables();
  if (server.name().index == 0)
    server.shutdown_cluster("the variable has a value");
  else
    server.join();
  task.sleep(500ms);  // by then the others have gone
  session.close();
}

// A worker begins a step on a task that it cannot reach, and the other one ends the job. Returns how the
// step ends.
std::string begin_in_vain(SimTask& task) {
  Server& server = task.server();
  if (server.name().job == "ps") return server.join();
  task.sleep(1s);
  if (server.name().index == 0) {
    task.sleep(2s);
    server.shutdown_cluster("nobody needs the variable");
    return "";
  }
  Graph g;
  g.on("/job:ps/task:0", [&] { return g.variable("w", g.constant(0.0F)); });
  Session session(server.target(), g);
  try {
    session.initialize_variables();
  } catch (const Error& error) {
    return error.what();
  }
  return "well";
}

}  // namespace

// The parameter server, which hears of the end first, fails the step for whose token the worker waits.
SIMULATION_TEST(a_worker_that_hears_of_it_last_has_not_failed, seeds(1, 20)) {
  SimCluster sim({{"ps", 1}, {"worker", 2}}, of_this_seed({}));
  auto run = sim.start(train);
  sim.at(1ms).partition("/job:worker/task:0", "/job:worker/task:1", 10s);
  BOOST_TEST(run.finish("/job:worker/task:1") == "ten steps are enough");
}

// Its last words are for tasks that will not come back.
SIMULATION_TEST(nobody_who_knows_of_it_waits_for_those_who_have_gone, seeds(1, 20)) {
  SimCluster sim({{"ps", 1}, {"worker", 2}}, of_this_seed({}));
  auto run = sim.start(end_late);
  run.finish();
  BOOST_TEST((sim.statistics().simulated < 1500ms));
}

// It does not wait until the connect timeout is over.
SIMULATION_TEST(a_step_that_waits_for_a_task_out_of_reach_ends_with_the_job, seeds(1, 20)) {
  SimCluster sim({{"ps", 1}, {"worker", 2}}, of_this_seed({}));
  auto run = sim.start(begin_in_vain);
  sim.at(500ms).partition("/job:ps/task:0", "/job:worker/task:1", 2min);
  const std::string end = run.finish("/job:worker/task:1");
  BOOST_TEST(end.find("the job is over: nobody needs the variable") != std::string::npos, end);
}

BOOST_AUTO_TEST_SUITE_END()
