// The project's own map/reduce jobs on simulated clusters: actorflow simulate's scenarios.
#include <boost/test/unit_test.hpp>

#include "actors/simulation/simulation_test.h"
#include "apps/cli/program.h"
#include "apps/scenario/simulate.h"

using namespace actorflow;

namespace {

Scenario own_scenario(const std::string& name, const std::vector<std::string>& settings = {}) {
  return Scenario::read(ACTORFLOW_SOURCE_DIR "/apps/scenarios/" + name + ".scenario", settings);
}

void run_seed(const Scenario& scenario) {
  static std::map<std::string, SimulatedJob> undisturbed;
  if (!undisturbed.contains(scenario.name()))
    undisturbed[scenario.name()] = simulate_undisturbed(scenario);
  BOOST_TEST(undisturbed[scenario.name()].files.size() > 1u);
  simulate(scenario, undisturbed[scenario.name()]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(job_scenarios)

SIMULATION_TEST(faults_that_heal_change_no_byte, seeds(1, 50)) {
  static const Scenario scenario = own_scenario("word_count");
  run_seed(scenario);
}

SIMULATION_TEST(a_job_that_goes_on_writes_the_same_bytes, seeds(1, 50)) {
  static const Scenario scenario = own_scenario("word_count_resume");
  run_seed(scenario);
}

BOOST_AUTO_TEST_CASE(another_job_writes_other_files) {
  const auto words = simulate_undisturbed(own_scenario("word_count"));
  BOOST_CHECK_THROW(simulate(own_scenario("word_count", {"job=top_k"}), words), Error);
}

BOOST_AUTO_TEST_CASE(mistakes_of_a_job_are_named) {
  BOOST_CHECK_EXCEPTION(own_scenario("word_count", {"job=words"}), UsageError, [](const auto& error) {
    return std::string(error.what()).find("expected one of top_k, word_count, got 'words'") !=
           std::string::npos;
  });
  BOOST_CHECK_THROW(own_scenario("word_count", {"input=nowhere"}), UsageError);
}

BOOST_AUTO_TEST_SUITE_END()
