// Jobs on the tasks of a cluster in this process.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "actors/jobs/run_job.h"
#include "actors/task/server.h"
#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(clusters)

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

// Of one record, by two attempts: the first waits for the second.
struct Attempts {
  std::atomic<int> begun{0};
  std::promise<void> second_begins;
  std::shared_future<void> second = second_begins.get_future().share();
};
Attempts* attempts = nullptr;

int throw_for_19(int number) {
  if (number != 19) return number;
  const int before = attempts->begun++;
  if (before == 1) attempts->second_begins.set_value();
  if (before == 0) attempts->second.wait();
  throw std::runtime_error("a bad record");
}

void one_bad_record(Job& job) {
  std::vector<int> numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto count = job.from(numbers, numbers.size()).map(throw_for_19).count();
  const auto skipped = job.counters()["skipped records"];
  if (count != 19 || skipped != 1)
    throw Error(Code::internal, std::to_string(skipped) + " records were skipped");
}

Status run_task(LocalCluster& cluster, int task, const JobTable& jobs,
                const JobOptions& options = test::small_parts()) {
  is_first = task == 0;
  return test::status_of(
      [&] { run_job(cluster.server("worker", task), jobs, jobs.begin()->first, options); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_task_between_two_stages_hears_of_the_jobs_end) {
  Course of_this_test;
  course = &of_this_test;
  LocalCluster cluster({{"worker", 2}});
  const JobTable jobs{{"given_up", given_up}};
  auto other = std::async(std::launch::async, [&] { return run_task(cluster, 1, jobs); });
  const Status first = run_task(cluster, 0, jobs);
  of_this_test.ended_at_the_first.set_value();
  BOOST_TEST(first.message == "enough");
  BOOST_TEST(other.get().message == "enough");
}

BOOST_AUTO_TEST_CASE(a_bad_record_of_two_attempts_is_skipped_once) {
  Attempts of_this_test;
  attempts = &of_this_test;
  JobOptions options = test::small_parts();
  options.skip_bad_records = 1;
  LocalCluster cluster({{"worker", 2}}, 4);
  const JobTable jobs{{"one_bad_record", one_bad_record}};
  auto other = std::async(std::launch::async, [&] { return run_task(cluster, 1, jobs, options); });
  const Status first = run_task(cluster, 0, jobs, options);
  BOOST_TEST(first.ok(), first.to_string());
  BOOST_TEST(other.get().ok());
}

BOOST_AUTO_TEST_SUITE_END()
