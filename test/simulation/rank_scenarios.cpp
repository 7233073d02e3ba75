// The project's scenarios of ranks that sum, as `actorflow simulate` runs them.
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "actors/simulation/simulation_test.h"
#include "apps/cli/program.h"
#include "apps/scenario/simulate.h"

BOOST_AUTO_TEST_SUITE(rank_scenarios)

using namespace actorflow;

namespace {

Scenario scenario(const std::string& name, const std::vector<std::string>& settings = {}) {
  return Scenario::read(ACTORFLOW_SOURCE_DIR "/apps/scenarios/" + name + ".scenario", settings);
}

}  // namespace

SIMULATION_TEST(sums_of_ranks_that_are_lost_have_the_bits_of_a_loop, seeds(1, 24)) {
  BOOST_TEST(simulate(scenario("collectives"), {}).statistics.messages > 100U);
}

// A rank is killed and comes back while a partition hides that from another one.
SIMULATION_TEST(a_restart_that_a_partition_hides_is_no_hang, seeds(1, 10)) {
  const std::string faults =
      "faults=0.059s partition /job:worker/task:1 /job:worker/task:3 for 4.473s; "
      "0.095s kill /job:worker/task:3; 2.772s restart /job:worker/task:3";
  const Scenario hidden = scenario("collectives", {"random_faults=0", faults});
  BOOST_TEST(simulate(hidden, {}).statistics.messages > 100U);
}

// Rank 0 stands still while all say hello and one of them is lost: it finds both at once, and those whom
// it has made welcome hear that their life does not begin.
SIMULATION_TEST(a_rank_that_is_lost_before_the_leader_is_welcome_is_no_hang, seeds(450, 450)) {
  const std::string faults =
      "faults=0.014s pause /job:worker/task:0 for 4.174s; 0.016s kill /job:worker/task:3; "
      "0.06s restart /job:worker/task:3";
  const Scenario stopped = scenario("collectives", {"random_faults=0", faults});
  BOOST_TEST(simulate(stopped, {}).statistics.messages > 50U);
}

SIMULATION_TEST(sums_on_a_bad_network_have_the_bits_of_a_loop, seeds(1, 24)) {
  BOOST_TEST(simulate(scenario("collectives_links"), {}).statistics.messages > 100U);
}

BOOST_AUTO_TEST_CASE(ranks_that_make_no_sense_are_refused) {
  const auto with = [](const std::string& setting) {
    return [setting] { scenario("collectives", {setting}); };
  };
  const auto says = [](const char* text) {
    return [text](const UsageError& error) {
      return std::string(error.what()).find(text) != std::string::npos;
    };
  };
  BOOST_CHECK_EXCEPTION(with("algorithm=rign")(), UsageError, says("rabenseifner"));
  BOOST_CHECK_EXCEPTION(with("job=word_count")(), UsageError, says("is an option of a map/reduce job"));
}

BOOST_AUTO_TEST_SUITE_END()
