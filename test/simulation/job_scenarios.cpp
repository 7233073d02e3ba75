// The project's own map/reduce jobs on simulated clusters: actorflow simulate's scenarios.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "actors/simulation/simulation_test.h"
#include "apps/cli/program.h"
#include "apps/jobs/histogram.h"
#include "apps/scenario/simulate.h"

BOOST_AUTO_TEST_SUITE(job_scenarios)

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

void run_own(const std::string& name) {
  static std::map<std::string, Scenario> scenarios;
  if (!scenarios.contains(name)) scenarios.emplace(name, own_scenario(name));
  run_seed(scenarios.at(name));
}

}  // namespace

SIMULATION_TEST(faults_that_heal_change_no_byte, seeds(1, 50)) { run_own("word_count"); }

SIMULATION_TEST(faults_that_heal_count_nothing_twice, seeds(1, 20)) { run_own("counted_words"); }

SIMULATION_TEST(a_job_that_goes_on_counts_nothing_twice, seeds(1, 20)) {
  static const Scenario resumed = own_scenario("counted_words", {"resume=true"});
  static const SimulatedJob undisturbed = simulate_undisturbed(resumed);
  simulate(resumed, undisturbed);
}

SIMULATION_TEST(a_job_that_goes_on_writes_the_same_bytes, seeds(1, 50)) { run_own("word_count_resume"); }

SIMULATION_TEST(a_sort_that_goes_on_writes_the_same_bytes, seeds(1, 20)) { run_own("terasort_resume"); }

SIMULATION_TEST(a_sort_of_many_equal_keys_survives, seeds(1, 20)) { run_own("terasort"); }

SIMULATION_TEST(an_index_of_files_survives, seeds(1, 10)) { run_own("inverted_index"); }

SIMULATION_TEST(the_most_frequent_words_survive, seeds(1, 10)) { run_own("top_k"); }

SIMULATION_TEST(a_join_with_a_hot_key_survives, seeds(1, 20)) { run_own("join"); }

SIMULATION_TEST(a_report_by_groups_survives, seeds(1, 10)) { run_own("sql_q1"); }

SIMULATION_TEST(a_query_of_two_joins_survives, seeds(1, 10)) { run_own("sql_q3"); }

SIMULATION_TEST(rounds_over_kept_points_survive, seeds(1, 10)) { run_own("k_means"); }

SIMULATION_TEST(rounds_of_gradient_descent_survive, seeds(1, 10)) { run_own("logistic_regression"); }

SIMULATION_TEST(a_mean_survives, seeds(1, 10)) { run_own("mean"); }

SIMULATION_TEST(counts_of_a_parameter_shard_survive, seeds(1, 50)) { run_own("histogram"); }

SIMULATION_TEST(weights_on_a_parameter_shard_survive, seeds(1, 10)) { run_own("sparse_regression"); }

BOOST_AUTO_TEST_CASE(a_parameter_shard_counts_each_word_once) {
  const Scenario scenario = own_scenario("histogram");
  std::map<std::size_t, std::int64_t> lengths;
  for (const auto& [name, bytes] : scenario.input())
    for (const auto word : Words({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
      ++lengths[std::min<std::size_t>(word.size(), longest_word)];
  std::string rows;
  for (std::size_t length = 0; length <= longest_word; ++length)
    rows += std::to_string(length) + "," + std::to_string(lengths[length]) + "\n";
  const auto files = simulate_undisturbed(scenario).files;
  const auto& part = files.at("part-00000-of-00001.csv");
  BOOST_TEST(std::string(reinterpret_cast<const char*>(part.data()), part.size()) == rows);
}

BOOST_AUTO_TEST_CASE(another_job_writes_other_files) {
  const auto words = simulate_undisturbed(own_scenario("word_count"));
  BOOST_CHECK_THROW(simulate(own_scenario("word_count", {"job=top_k"}), words), Error);
}

BOOST_AUTO_TEST_CASE(other_counters_are_found) {
  const Scenario scenario = own_scenario("counted_words", {"random_faults=0"});
  SimulatedJob undisturbed = simulate_undisturbed(scenario);
  BOOST_TEST_REQUIRE(undisturbed.counters.size() == 1u);
  auto& counters = undisturbed.counters.front();
  for (const auto* name : {"lines", "distinct words", "sorted words", "rare words"})
    BOOST_TEST(counters[name] > 100, name << ": " << counters[name]);
  ++counters["rare words"];
  BOOST_CHECK_EXCEPTION(simulate(scenario, undisturbed), Error, [](const Error& error) {
    return std::string(error.what()).find("told other counters") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(mistakes_of_a_job_are_named) {
  BOOST_CHECK_EXCEPTION(own_scenario("word_count", {"job=words"}), UsageError, [](const auto& error) {
    return std::string(error.what()).find("top_k, word_count, got 'words'") != std::string::npos;
  });
  BOOST_CHECK_THROW(own_scenario("word_count", {"input=nowhere"}), UsageError);
  BOOST_CHECK_THROW(own_scenario("terasort", {"input=shakespeare"}), UsageError);
}

BOOST_AUTO_TEST_SUITE_END()
