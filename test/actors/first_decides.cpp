// What the first replica decides for all.
#include "actors/strategies/first_decides.h"

#include <boost/test/unit_test.hpp>
#include <future>
#include <string>
#include <vector>

#include "actors/strategies/replica_settings.h"
#include "actors/task/server.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(first_decides)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const TaskName first{"worker", 0}, second{"worker", 1}, third{"worker", 2};
constexpr const char* name = "choice";

Decision must_not_decide() { throw Error(Code::internal, "decided once more"); }

struct Tasks {
  LocalCluster cluster{{{"worker", 3}}};

  Decision decide(const TaskName& task, const std::vector<TaskName>& replicas,
                  const std::function<Decision()>& decide = must_not_decide) {
    return decided_by_first(cluster.server(task.job, task.index), replicas, name,
                            {.connect_timeout_ms = 20'000}, decide);
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(all_get_what_the_first_one_decides) {
  Tasks tasks;
  const std::vector<TaskName> replicas{first, second, third};
  std::vector<std::future<Decision>> others;
  for (const TaskName& task : {second, third})
    others.push_back(std::async(std::launch::async, [&, task] { return tasks.decide(task, replicas); }));
  const Decision made{"a", "b, c", ""};
  BOOST_TEST(tasks.decide(first, replicas, [&] { return made; }) == made,
             boost::test_tools::per_element());
  for (auto& other : others) BOOST_TEST(other.get() == made, boost::test_tools::per_element());
}

// As a first replica that was started again, of which the others know more than it does.
BOOST_AUTO_TEST_CASE(a_first_one_that_comes_back_learns_it_from_another) {
  Tasks tasks;
  const Decision made{"from before"};
  auto other = std::async(std::launch::async, [&] { return tasks.decide(second, {third, second}); });
  tasks.decide(third, {third, second}, [&] { return made; });
  other.get();
  BOOST_TEST(tasks.decide(first, {first, second}) == made, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_reason_for_which_the_job_fails_ends_the_wait) {
  Tasks tasks;
  auto waiting = std::async(std::launch::async, [&] { return tasks.decide(second, {first, second}); });
  tasks.cluster.server("worker", 0).fail_cluster({Code::invalid_argument, "no such layer"});
  BOOST_CHECK_EXCEPTION(waiting.get(), Error, says("no such layer"));
}

// It was given what the others leave to it, or trains by another strategy: their settings are compared.
BOOST_AUTO_TEST_CASE(nobody_waits_for_a_first_one_that_trains_without_a_decision) {
  Tasks tasks;
  publish_settings(tasks.cluster.server("worker", 0), {{"pipeline", "none"}});
  BOOST_TEST(tasks.decide(second, {first, second}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
