// The trainer as four processes on loopback.
#include <boost/test/unit_test.hpp>

#include "test/apps/support/trainers.h"

BOOST_AUTO_TEST_SUITE(trainer)

using actorflow::test::report_value;
using actorflow::test::train_in_one_process;
using actorflow::test::Trainers;

BOOST_AUTO_TEST_CASE(asynchronous_training_learns_the_digits) {
  Trainers trainers(2, 2, {"--train_steps=4000"});
  trainers.start_all();
  trainers.expect_success();
  BOOST_TEST(trainers.report_number("test_accuracy") >= 0.97);
  BOOST_TEST(trainers.report_number("global_step") >= 4000);
  BOOST_TEST(report_value(trainers.report_text(), "mode") == "\"async\"");
}

BOOST_AUTO_TEST_CASE(synchronous_training_learns_the_digits) {
  Trainers trainers(2, 2, {"--train_steps=2000", "--sync_replicas"});
  trainers.start_all();
  trainers.expect_success();
  BOOST_TEST(trainers.report_number("test_accuracy") >= 0.97);
  BOOST_TEST(trainers.report_number("global_step") == 2000);
  BOOST_TEST(trainers.report_number("staleness_max") == 0);
}

BOOST_AUTO_TEST_CASE(tasks_start_in_any_order) {
  for (const char* mode : {"--sync_replicas", "--batch_size=64"}) {
    Trainers trainers(2, 2, {"--train_steps=20", mode});
    trainers.start("worker", 1);
    trainers.start("worker", 0);
    BOOST_TEST(trainers.task("worker", 1).prints("waiting for /job:ps/task:"));
    trainers.start("ps", 1);
    trainers.start("ps", 0);
    trainers.expect_success();
  }
}

BOOST_AUTO_TEST_CASE(synchronous_weights_do_not_depend_on_the_processes) {
  const std::vector<std::vector<std::string>> jobs{
      {"--train_steps=100", "--seed=7"},
      {"--train_steps=6", "--model=resnet20", "--data=digits", "--batch_size=8"}};
  for (const auto& flags : jobs) {
    auto local = flags;
    local.insert(local.end(), {"--sync", "--ps=2", "--workers=2"});
    const std::string first = report_value(train_in_one_process(local), "weights_hash");
    BOOST_TEST(report_value(train_in_one_process(local), "weights_hash") == first);

    auto distributed = flags;
    distributed.push_back("--sync_replicas");
    Trainers trainers(2, 2, distributed);
    trainers.start_all();
    trainers.expect_success();
    BOOST_TEST(trainers.weights_hash() == first);
  }
}

BOOST_AUTO_TEST_CASE(another_seed_gives_other_weights) {
  const auto hash = [](const char* seed) {
    return report_value(train_in_one_process({"--train-steps=5", "--sync", seed}), "weights_hash");
  };
  BOOST_TEST(hash("--seed=1") != hash("--seed=2"));
}

BOOST_AUTO_TEST_SUITE_END()
