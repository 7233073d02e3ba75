// Tasks with other settings than the chief, or that cannot take part: whoever meets whom first, all hear
// why.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "actors/actorflow.h"
#include "actors/simulation/simulation_test.h"
#include "actors/strategies/meeting.h"
#include "test/support/small_training.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(task_settings)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

const test::SmallJob job{.strategy = Synchronous{}};
const std::string chief = "/job:worker/task:0", server_of_two = "/job:ps/task:1";
const std::vector<std::string> all_tasks{"/job:ps/task:0", server_of_two, chief, "/job:worker/task:1"};

// Workers begin at any time within three seconds; `special` runs a program of its own. Returns the error
// of each task, "" if it ends well.
std::vector<std::string> errors_of_tasks(const std::string& special,
                                         const std::function<void(Server&)>& run_special) {
  const std::uint64_t seed = of_this_seed({}).seed;
  SimCluster sim(test::small_tasks<SimCluster>(job, 2), of_this_seed({.time_limit = 30s}));
  auto run = sim.start([&](SimTask& task) {
    Server& server = task.server();
    const auto number = static_cast<std::uint64_t>(server.name().index) + 1;
    if (server.name().job == "worker") task.sleep(std::chrono::milliseconds(seed * 277 * number % 3000));
    return test::error_of([&] {
      if (server.name().to_string() == special)
        run_special(server);
      else
        test::train_small(server, job);
    });
  });
  std::vector<std::string> errors;
  for (const std::string& task : all_tasks) errors.push_back(run.finish(task));
  return errors;
}

// What a parameter server is told that was given this number of steps, and what all others are.
std::vector<std::string> errors_with_steps(const std::string& steps) {
  return errors_of_tasks(server_of_two, [&steps](Server& server) {
    serve_parameters(server, test::small_options(job), {{"train_steps", steps}});
  });
}

}  // namespace

SIMULATION_TEST(a_parameter_server_with_other_settings_ends_all_by_name, seeds(1, 30)) {
  for (const std::string& error : errors_with_steps("7"))
    BOOST_TEST(error.find("train_steps: /job:ps/task:1 has 7, /job:worker/task:0 has 20") != error.npos,
               error);
}

SIMULATION_TEST(a_parameter_server_with_the_same_settings_serves, seeds(1, 10)) {
  for (const std::string& error : errors_with_steps("20")) BOOST_TEST(error == "");
}

// It looks for variables at other parameter servers than the chief, which never initialises them there.
SIMULATION_TEST(a_worker_that_places_variables_otherwise_ends_all_by_name, seeds(1, 20)) {
  const auto errors = errors_of_tasks("/job:worker/task:1", [](Server& server) {
    const std::atomic<bool> never{false};
    test::SmallTraining program(server, job);
    ReplicaOptions options = test::small_options(job);
    options.ps_strategy = "greedy";
    run_replica(server, program, options, never);
  });
  for (const std::string& error : errors)
    BOOST_TEST(error.find("ps_strategy: /job:worker/task:1 has greedy") != error.npos, error);
}

// With a sharded optimizer the ranks begin by dividing its slots, for which a rank without one never
// comes.
SIMULATION_TEST(a_rank_that_alone_shards_its_optimizer_ends_all_by_name, seeds(1, 20)) {
  const test::SmallJob plain{.strategy = AllReduce{}},
      sharded{.strategy = AllReduce{.sharded_optimizer = true}};
  const int alone = static_cast<int>(of_this_seed({}).seed % 2);
  SimCluster sim(test::small_tasks<SimCluster>(plain, 2), of_this_seed({.time_limit = 30s}));
  auto run = sim.start([&](SimTask& task) {
    Server& server = task.server();
    return test::error_of(
        [&] { test::train_small(server, server.name().index == alone ? sharded : plain); });
  });
  for (const int index : {0, 1}) {
    const std::string error = run.finish(TaskName{"worker", index}.to_string());
    BOOST_TEST(error.find("all-reduce, sharded optimizer") != error.npos, error);
  }
}

// A parameter server, the chief or the other worker.
SIMULATION_TEST(a_task_that_cannot_take_part_ends_all_by_its_reason, seeds(1, 40)) {
  const std::string& refused = all_tasks[of_this_seed({}).seed % all_tasks.size()];
  const auto errors = errors_of_tasks(refused, [](Server& server) {
    const Status why{Code::failed_precondition, "it does not fit"};
    if (server.name().job == "ps") publish_settings(server, {{"refused", why.message}});
    tell_refusal(server, TaskName::parse(chief), why, 20s);
    throw Error(why);
  });
  for (const std::string& error : errors)
    BOOST_TEST(error.find("it does not fit") != error.npos,
               error << " where " << refused << " was refused");
}

BOOST_AUTO_TEST_SUITE_END()
