// kill -9 of tasks of a synchronous training job, whose weights come out as without it. The digits take
// a task a second less to read than MNIST.
#include <boost/test/unit_test.hpp>

#include "test/apps/support/supervised_job.h"
#include "test/apps/support/trainers.h"

BOOST_AUTO_TEST_SUITE(kills_sync)

using namespace actorflow::test;

namespace {

constexpr std::int64_t last_step = 1500;
const std::string steps = "--train_steps=" + std::to_string(last_step), digits = "--data=digits";

const std::string& undisturbed_hash() {
  static const std::string hash = report_value(
      train_in_one_process({"--sync", "--ps=2", "--workers=3", steps, digits}), "weights_hash");
  return hash;
}

// Trains while `disturb` does its worst, and checks what comes out.
template <class Disturb>
void train_through(int kills, Disturb&& disturb) {
  SupervisedJob job({steps, digits, "--sync_replicas"});
  job.start_all();
  disturb(job);
  job.expect_success();
  BOOST_TEST(job.restarts() >= kills);
  BOOST_TEST(report_value(job.report(), "global_step") == std::to_string(last_step));
  BOOST_TEST(report_value(job.report(), "weights_hash") == undisturbed_hash());
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_a_worker) {
  train_through(2, [](SupervisedJob& job) {
    for (const std::int64_t step : {200, 700}) {
      job.wait_for_step(step);
      job.kill("worker", 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(of_a_parameter_server) {
  train_through(2, [](SupervisedJob& job) {
    job.wait_for_step(200);
    job.kill("ps", 1);
    job.wait_for_step(700);
    job.kill("ps", 0);  // that of the global step
  });
}

BOOST_AUTO_TEST_CASE(of_the_chief) {
  train_through(2, [](SupervisedJob& job) {
    for (const std::int64_t step : {200, 700}) {
      job.wait_for_step(step);
      job.kill("chief", 0);
    }
  });
}

BOOST_AUTO_TEST_CASE(of_all_at_once) {
  train_through(6, [](SupervisedJob& job) {
    job.wait_for_step(200);
    job.kill_all();
  });
}

BOOST_AUTO_TEST_SUITE_END()
