// The project's own training jobs on simulated clusters: actorflow simulate's scenarios, with fewer seeds.
#include <boost/test/unit_test.hpp>

#include "actors/simulation/simulation_test.h"
#include "apps/scenario/simulate.h"

BOOST_AUTO_TEST_SUITE(training)

using namespace actorflow;

namespace {

// One of apps/scenarios, and what comes out of it without faults.
struct Prepared {
  explicit Prepared(const std::string& name)
      : scenario(Scenario::read(ACTORFLOW_SOURCE_DIR "/apps/scenarios/" + name + ".scenario")),
        undisturbed(simulate_undisturbed(scenario)) {}

  Scenario scenario;
  SimulatedJob undisturbed;
};

const Prepared& synchronous_job() {
  static const Prepared prepared("digits_sync");
  return prepared;
}

const Prepared& asynchronous_job() {
  static const Prepared prepared("digits_async");
  return prepared;
}

const Prepared& job_with_a_backup() {
  static const Prepared prepared("digits_backup");
  return prepared;
}

}  // namespace

SIMULATION_TEST(faults_that_heal_change_no_bit_of_synchronous_training, seeds(1, 30)) {
  simulate(synchronous_job().scenario, synchronous_job().undisturbed);
}

// So many gradients are added as they come.
SIMULATION_TEST(faults_that_heal_change_no_bit_of_six_replicas, seeds(1, 20)) {
  static const Scenario scenario = Scenario::read(
      ACTORFLOW_SOURCE_DIR "/apps/scenarios/digits_sync.scenario", {"workers=6", "train_steps=100"});
  static const SimulatedJob undisturbed = simulate_undisturbed(scenario);
  simulate(scenario, undisturbed);
}

// Replicas ask for their tokens while gradients are on their way.
SIMULATION_TEST(faults_that_heal_change_no_bit_with_many_servers, seeds(1, 20)) {
  static const Scenario scenario =
      Scenario::read(ACTORFLOW_SOURCE_DIR "/apps/scenarios/digits_sync.scenario", {"ps=4"});
  static const SimulatedJob undisturbed = simulate_undisturbed(scenario);
  simulate(scenario, undisturbed);
}

SIMULATION_TEST(faults_that_heal_leave_asynchronous_training_as_good, seeds(1, 15)) {
  simulate(asynchronous_job().scenario, asynchronous_job().undisturbed);
}

SIMULATION_TEST(faults_that_heal_leave_training_with_a_backup_worker_as_good, seeds(1, 30)) {
  simulate(job_with_a_backup().scenario, job_with_a_backup().undisturbed);
}

SIMULATION_TEST(faults_of_the_disk_change_no_bit_of_synchronous_training, seeds(1, 15)) {
  static const Scenario scenario =
      Scenario::read(ACTORFLOW_SOURCE_DIR "/apps/scenarios/digits_sync.scenario",
                     {"kinds=disk_errors,disk_errors,disk_full,power,kill"});
  simulate(scenario, synchronous_job().undisturbed);
}

SIMULATION_TEST(the_same_seed_is_the_same_run, seeds(1, 5)) {
  const auto& [scenario, undisturbed] = synchronous_job();
  BOOST_TEST(simulate(scenario, undisturbed).trace_hash == simulate(scenario, undisturbed).trace_hash);
}

BOOST_AUTO_TEST_SUITE_END()
