// kill -9 of tasks of asynchronous training jobs: one learns the digits all the same, one that does
// nothing but count its updates (test/support/counting.h) has counted each once.
#include <boost/test/unit_test.hpp>

#include "test/apps/support/counting_job.h"
#include "test/apps/support/supervised_job.h"
#include "test/apps/support/trainers.h"

BOOST_AUTO_TEST_SUITE(kills_async)

using namespace actorflow::test;

namespace {

constexpr std::int64_t last_step = 4000;

template <class Disturb>
void train_through(int kills, Disturb&& disturb, const std::vector<std::string>& flags = {}) {
  std::vector<std::string> all{"--train_steps=" + std::to_string(last_step), "--data=digits"};
  all.insert(all.end(), flags.begin(), flags.end());
  SupervisedJob job(all);
  job.start_all();
  disturb(job);
  job.expect_success();
  BOOST_TEST(job.restarts() >= kills);
  BOOST_TEST(std::stod(report_value(job.report(), "test_accuracy")) >= 0.85);
  BOOST_TEST(std::stoll(report_value(job.report(), "global_step")) >= last_step);
  BOOST_TEST(report_value(job.report(), "uneven_updates") == "0");
}

constexpr std::int64_t steps_each = 800;

// Kills a worker amid its first steps, again and again: now and then one is half-way between the
// servers.
void kill_often(int worker) {
  CountingJob job(steps_each);
  job.start_all();
  for (int kills = 0; kills < 16; ++kills) {
    BOOST_REQUIRE(job.task("worker", worker).prints("counted "));
    job.replace("worker", worker);
  }
  job.expect_each_update_counted_once();
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_a_worker_count_each_update_once) { kill_often(2); }

BOOST_AUTO_TEST_CASE(of_the_chief_count_each_update_once) { kill_often(0); }

BOOST_AUTO_TEST_CASE(of_a_worker) {
  train_through(1, [](SupervisedJob& job) {
    job.wait_for_step(500);
    job.kill("worker", 0);
  });
}

BOOST_AUTO_TEST_CASE(of_a_worker_for_which_others_would_wait) {
  train_through(1,
                [](SupervisedJob& job) {
                  job.wait_for_step(500);
                  job.kill("worker", 0);
                },
                {"--staleness_bound=3"});
}

BOOST_AUTO_TEST_CASE(of_a_parameter_server) {
  train_through(2, [](SupervisedJob& job) {
    job.wait_for_step(500);
    job.kill("ps", 1);
    job.wait_for_step(1500);
    job.kill("ps", 0);  // that of the global step
  });
}

BOOST_AUTO_TEST_CASE(of_the_chief) {
  train_through(1, [](SupervisedJob& job) {
    job.wait_for_step(500);
    job.kill("chief", 0);
  });
}

BOOST_AUTO_TEST_CASE(of_all_at_once) {
  train_through(6, [](SupervisedJob& job) {
    job.wait_for_step(500);
    job.kill_all();
  });
}

BOOST_AUTO_TEST_CASE(a_task_that_is_started_after_the_end_leaves_and_says_why) {
  SupervisedJob job({"--train_steps=20", "--data=digits"});
  job.start_all();
  job.expect_success();
  for (const char* name : {"ps", "worker", "chief", "evaluator"}) {
    Process& again = job.start(name, 0);
    BOOST_TEST(again.wait() == 0, again.output());
    BOOST_TEST(again.prints("training is complete"), again.output());
  }
}

BOOST_AUTO_TEST_SUITE_END()
