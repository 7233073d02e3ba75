#include "actors/simulation/fault_plan.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "dataflow/values/error.h"

BOOST_AUTO_TEST_SUITE(fault_plan)

using namespace actorflow;
using namespace std::chrono_literals;

namespace {

const std::vector<TaskName> tasks{{"ps", 0}, {"worker", 0}, {"worker", 1}};

}  // namespace

BOOST_AUTO_TEST_CASE(a_plan_reads_as_it_is_written) {
  const std::string text =
      "1s partition /job:ps/task:0 /job:worker/task:1 for 0.25s; 12.5s pause /job:ps/task:0 for 3s; "
      "30s kill /job:ps/task:0; 31s restart /job:ps/task:0; 40s lossy for 2s";
  BOOST_TEST(to_string(parse_fault_plan(text)) == text);
}

BOOST_AUTO_TEST_CASE(random_plans_survive_being_written_and_heal) {
  RandomFaults options;
  options.count = 5;
  options.until = 60s;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const FaultPlan plan = random_fault_plan(seed, tasks, options);
    BOOST_TEST((parse_fault_plan(to_string(plan)) == plan));
    BOOST_TEST((random_fault_plan(seed, tasks, options) == plan));
    const auto count = [&plan](FaultKind kind) { return std::ranges::count(plan, kind, &Fault::kind); };
    BOOST_TEST(count(FaultKind::kill) == count(FaultKind::restart));
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_named) {
  for (const char* text : {"kill /job:ps/task:0", "5s explode", "5s kill", "5 kill /job:ps/task:0",
                           "5s pause /job:ps/task:0", "5s pause /job:ps/task:0 for ever",
                           "nans kill /job:ps/task:0", "-1s kill /job:ps/task:0"})
    BOOST_CHECK_EXCEPTION(parse_fault_plan(text), Error, [&](const Error& error) {
      return std::string(error.what()).find(text) != std::string::npos;
    });
}

BOOST_AUTO_TEST_CASE(shrinking_leaves_what_matters) {
  RandomFaults options;
  options.count = 12;
  options.until = 60s;
  const FaultPlan plan = random_fault_plan(3, tasks, options);
  const Fault first = plan[2], second = plan[plan.size() - 3];
  const auto fails = [&](const FaultPlan& candidate) {
    return std::ranges::count(candidate, first) > 0 && std::ranges::count(candidate, second) > 0;
  };
  BOOST_TEST((shrink(plan, fails) == FaultPlan{first, second}));
}

BOOST_AUTO_TEST_SUITE_END()
