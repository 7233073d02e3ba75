// Replicated training by processes that are lost, come back, or are slow.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <nlohmann/json.hpp>

#include "test/apps/support/trainers.h"

BOOST_AUTO_TEST_SUITE(replicated_training)

using namespace actorflow::test;

namespace {

std::int64_t dropped_gradients(const Trainers& trainers) {
  const auto counts = nlohmann::json::parse(report_value(trainers.report_text(), "dropped_gradients"));
  std::int64_t sum = 0;
  for (const auto& count : counts) sum += count.get<std::int64_t>();
  return sum;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_synchronous_worker_that_is_killed_and_comes_back_changes_no_bit) {
  const std::vector<std::string> flags = {"--train_steps=1500", "--sync_replicas", "--hidden=32"};
  Trainers undisturbed(2, 3, flags);
  undisturbed.start_all();
  undisturbed.expect_success();

  Trainers trainers(2, 3, flags);
  trainers.start_all();
  for (int life = 0; life < 3; ++life) {
    BOOST_REQUIRE(trainers.task("worker", 1).prints("step "));
    trainers.task("worker", 1).send_signal(SIGKILL);
    trainers.task("worker", 1).wait();
    trainers.start("worker", 1);
  }
  trainers.expect_success();
  BOOST_TEST(trainers.weights_hash() == undisturbed.weights_hash());
}

BOOST_AUTO_TEST_CASE(a_backup_worker_makes_up_for_a_slow_one) {
  Trainers trainers(
      1, 3, {"--train_steps=300", "--sync_replicas", "--replicas_to_aggregate=2", "--hidden=32"});
  trainers.start("ps", 0);
  for (const int worker : {1, 2}) trainers.start("worker", worker);
  // So that two of them are not done before the third one comes.
  for (const int worker : {1, 2}) {
    Process& process = trainers.task("worker", worker);
    BOOST_REQUIRE_MESSAGE(process.prints(" waits for the chief"), process.output());
  }
  trainers.start("worker", 0);
  trainers.expect_success();
  BOOST_TEST(trainers.report_number("global_step") >= 300);
  BOOST_TEST(dropped_gradients(trainers) > 0);
}

BOOST_AUTO_TEST_CASE(two_workers_make_three_gradients_for_each_step) {
  Trainers trainers(
      1, 2, {"--train_steps=300", "--sync_replicas", "--replicas_to_aggregate=3", "--hidden=32"});
  trainers.start_all();
  trainers.expect_success();
  BOOST_TEST(trainers.report_number("global_step") >= 300);
}

BOOST_AUTO_TEST_CASE(no_worker_leads_by_more_than_the_staleness_bound) {
  Trainers trainers(2, 3, {"--train_steps=1500", "--staleness_bound=2", "--hidden=32"});
  trainers.start_all();
  trainers.expect_success();
  BOOST_TEST(trainers.report_number("max_lead") <= 2);
  BOOST_TEST(trainers.report_number("test_accuracy") > 0.85);
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_lost_worker_with_bounded_staleness) {
  Trainers trainers(2, 3, {"--train_steps=4000", "--staleness_bound=0", "--hidden=32"});
  trainers.start_all();
  BOOST_REQUIRE(trainers.task("worker", 1).prints("step "));
  trainers.task("worker", 1).send_signal(SIGKILL);
  BOOST_TEST(trainers.task("worker", 1).wait() == 128 + SIGKILL);
  for (const auto& [job, task] : {std::pair{"worker", 0}, {"worker", 2}, {"ps", 0}, {"ps", 1}})
    BOOST_TEST(trainers.task(job, task).wait() == 0, trainers.task(job, task).output());
  BOOST_TEST(trainers.report_number("global_step") >= 4000);
}

BOOST_AUTO_TEST_SUITE_END()
