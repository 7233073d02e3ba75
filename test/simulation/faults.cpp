// The rows of the table of faults (test/README.md) that a model can express, on the project's own training.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/simulation/simulation_test.h"
#include "apps/scenario/simulate.h"

BOOST_AUTO_TEST_SUITE(faults)

using namespace actorflow;

namespace {

Scenario own_scenario(const std::string& name) {
  return Scenario::read(ACTORFLOW_SOURCE_DIR "/apps/scenarios/" + name + ".scenario");
}

// One of the project's scenarios with these faults in place of its own.
void survives(const std::string& name, const std::vector<std::string>& faults) {
  static std::map<std::string, SimulatedJob> undisturbed;
  if (!undisturbed.contains(name)) undisturbed[name] = simulate_undisturbed(own_scenario(name));
  ScenarioFlags flags = own_scenario(name).flags();
  flags.random_faults = 0;
  flags.faults = faults;
  const SimulatedJob job = simulate({name, flags}, undisturbed[name]);
  if (SeedScope::current()->options().only) return;  // a failure is being shrunk
  std::uint64_t happened = 0;
  for (const auto& [kind, count] : job.statistics.faults) happened += count;
  BOOST_TEST(happened == faults.size());  // none came when all was over
}

// Weights are compared bit by bit.
void changes_no_bit(const std::vector<std::string>& faults) { survives("digits_sync", faults); }
void changes_little(const std::vector<std::string>& faults) { survives("digits_async", faults); }

}  // namespace

SIMULATION_TEST(kill_of_a_worker_asynchronous, seeds(1, 3)) {
  changes_little({"0.3s kill /job:worker/task:2", "0.6s restart /job:worker/task:2"});
}

SIMULATION_TEST(kill_of_a_worker_synchronous, seeds(1, 5)) {
  changes_no_bit({"1s kill /job:worker/task:2", "3s restart /job:worker/task:2"});
}

SIMULATION_TEST(kill_of_a_parameter_server, seeds(1, 5)) {
  changes_no_bit({"2s kill /job:ps/task:1", "4s restart /job:ps/task:1"});
}

SIMULATION_TEST(kill_of_the_chief, seeds(1, 5)) {
  changes_no_bit({"2s kill /job:worker/task:0", "4s restart /job:worker/task:0"});
}

SIMULATION_TEST(kill_of_all, seeds(1, 5)) { changes_no_bit({"2s power for 1s"}); }

SIMULATION_TEST(pause_of_a_worker, seeds(1, 5)) { changes_no_bit({"2s pause /job:worker/task:3 for 12s"}); }
SIMULATION_TEST(pause_of_a_parameter_server, seeds(1, 5)) {
  changes_no_bit({"2s pause /job:ps/task:0 for 12s"});
}
SIMULATION_TEST(pause_of_the_chief, seeds(1, 5)) { changes_no_bit({"2s pause /job:worker/task:0 for 12s"}); }

SIMULATION_TEST(partition_of_a_worker, seeds(1, 5)) {
  changes_no_bit({"2s partition /job:worker/task:2 /job:ps/task:0 for 12s",
                  "2s partition /job:worker/task:2 /job:ps/task:1 for 12s",
                  "2s partition /job:worker/task:2 /job:worker/task:0 for 12s"});
}

// What two servers say to each other while they cannot: the worker that waits for it is connected with both.
SIMULATION_TEST(cut_off_servers_lose_no_message, seeds(1, 5)) {
  changes_no_bit({"1s partition /job:ps/task:0 /job:ps/task:1 for 3s", "2s kill /job:ps/task:0",
                  "2.3s restart /job:ps/task:0"});
}

SIMULATION_TEST(slow_network, seeds(1, 5)) {
  changes_no_bit({"0.5s delay /job:ps/task:0 for 20s", "1s lossy for 20s"});
}

SIMULATION_TEST(straggler, seeds(1, 5)) { changes_no_bit({"0.5s slow /job:worker/task:1 for 20s"}); }

SIMULATION_TEST(disk_full_while_saving, seeds(1, 5)) { changes_no_bit({"0.2s disk_full for 20s"}); }

SIMULATION_TEST(disk_that_fails_now_and_then, seeds(1, 5)) {
  changes_no_bit({"0.2s disk_errors for 8s", "1s power for 0.5s", "3s kill /job:ps/task:1",
                  "4s restart /job:ps/task:1"});
}

SIMULATION_TEST(torn_checkpoint, seeds(1, 10)) {
  changes_no_bit({"1s power for 0.5s", "4s power for 0.5s"});
}

SIMULATION_TEST(duplicated_reordered_or_late_message, seeds(1, 5)) {
  changes_no_bit({"0.1s duplicate for 60s", "0.1s late for 60s"});
}

BOOST_AUTO_TEST_SUITE_END()
