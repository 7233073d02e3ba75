// Jobs on the tasks of a cluster in this process.
#include <boost/test/unit_test.hpp>
#include <future>

#include "actors/jobs/run_job.h"
#include "actors/task/server.h"
#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

using namespace actorflow;

namespace {

// What a job's functions, which are plain ones, tell each other across the tasks.
struct Course {
  std::promise<void> ended_at_the_first;
  std::shared_future<void> ended = ended_at_the_first.get_future().share();
};
Course* course = nullptr;
thread_local bool is_first = false;

// The first task gives up between two stages, and only then does the other one come to the second stage.
// It runs on threads on which nothing of Boost.Test may be used.
void given_up(Job& job) {
  const auto numbers = job.from(std::vector<int>{1, 2, 3});
  if (numbers.count() != 3) throw Error(Code::internal, "three numbers were counted wrongly");
  if (is_first) throw Error(Code::aborted, "enough");
  course->ended.wait();
  numbers.count();
}

Status run_task(LocalCluster& cluster, int task) {
  is_first = task == 0;
  return test::status_of([&] {
    run_job(cluster.server("worker", task), {{"given_up", given_up}}, "given_up", test::small_parts());
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(clusters)

BOOST_AUTO_TEST_CASE(a_task_between_two_stages_hears_of_the_jobs_end) {
  Course of_this_test;
  course = &of_this_test;
  LocalCluster cluster({{"worker", 2}});
  auto other = std::async(std::launch::async, [&] { return run_task(cluster, 1); });
  const Status first = run_task(cluster, 0);
  of_this_test.ended_at_the_first.set_value();
  BOOST_TEST(first.message == "enough");
  BOOST_TEST(other.get().message == "enough");
}

BOOST_AUTO_TEST_SUITE_END()
