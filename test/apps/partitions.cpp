// A training job whose tasks are on machines of their own, between which the wire is cut or bad.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "apps/rehearsal/lan.h"
#include "test/apps/support/machines.h"
#include "test/apps/support/supervised_job.h"
#include "test/apps/support/trainers.h"

BOOST_AUTO_TEST_SUITE(partitions, *boost::unit_test::precondition(actorflow::test::has_machines))

using actorflow::Lan;
using namespace actorflow::test;
using namespace std::chrono_literals;

namespace {

const std::string digits = "--data=digits";
const std::string unheard = " is connected, but has said nothing for ";
const std::string waits = "waits for tasks that cannot be reached";

std::string undisturbed_hash(const std::vector<std::string>& flags) {
  std::vector<std::string> all{"--sync", "--ps=2", "--workers=3", digits};
  all.insert(all.end(), flags.begin(), flags.end());
  return report_value(train_in_one_process(all), "weights_hash");
}

// Cuts the machines off from the others, until those who cannot do without each other say so.
void train_through_a_partition(const std::vector<int>& machines) {
  const std::vector<std::string> steps{"--train_steps=600"};
  Lan lan(SupervisedJob::num_machines);
  SupervisedJob job({steps[0], digits, "--sync_replicas", "--heartbeat_timeout=1"}, &lan);
  job.start_all();
  job.wait_for_step(100);
  lan.cut_off(machines);
  job.expect_output("chief", 0, unheard);
  job.expect_output("worker", 0, unheard);
  const auto saved = job.saved_step();
  job.expect_output("worker", 0, waits);
  // The chief's session goes on without a worker, but its steps do not.
  BOOST_TEST(job.saved_step() <= saved + 50);
  lan.join_all();
  job.expect_success();
  BOOST_TEST(job.restarts() == 0);
  BOOST_TEST(report_value(job.report(), "global_step") == "600");
  BOOST_TEST(report_value(job.report(), "weights_hash") == undisturbed_hash(steps));
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_a_worker_from_the_others) {
  train_through_a_partition({SupervisedJob::worker_0});
}

BOOST_AUTO_TEST_CASE(of_the_chief_and_a_parameter_server_from_the_others) {
  train_through_a_partition({SupervisedJob::chief_0, SupervisedJob::ps_0});
}

// A chief that was stopped and cut off, and whose place another has taken, must not take it back.
BOOST_AUTO_TEST_CASE(a_chief_that_returns_after_another_has_taken_over_ends) {
  const std::vector<std::string> steps{"--train_steps=1200"};
  Lan lan(SupervisedJob::num_machines + 1);
  SupervisedJob job({steps[0], digits, "--sync_replicas", "--heartbeat_timeout=1"}, &lan);
  job.start_all();
  job.wait_for_step(100);
  job.signal("chief", 0, SIGSTOP);
  const pid_t stopped = job.trainer("chief", 0);
  const auto earlier = job.start_elsewhere("chief", 0, SupervisedJob::num_machines);
  job.wait_for_step(job.saved_step() + 50);
  ::kill(stopped, SIGCONT);
  BOOST_TEST(earlier->prints("has been replaced"), earlier->output());
  BOOST_TEST(earlier->prints("starting it again"), earlier->output());  // it has ended
  job.expect_success();
  BOOST_TEST(job.restarts() == 0);
  BOOST_TEST(report_value(job.report(), "global_step") == "1200");
  BOOST_TEST(report_value(job.report(), "weights_hash") == undisturbed_hash(steps));
}

// The coordinator knows for whom the others wait. It looks at the steps of some seconds, so there are
// more of them; the wire is good again when it has said so.
BOOST_AUTO_TEST_CASE(a_slow_worker_is_named) {
  Lan lan(SupervisedJob::num_machines);
  lan.set_wire(SupervisedJob::worker_0, {.delay = 300ms});
  SupervisedJob job({"--train_steps=40", digits, "--hidden=16", "--sync_replicas"}, &lan);
  job.start_all();
  job.expect_output("ps", 0, "are as slow as replica 1 (/job:worker/task:0)");
  lan.set_wire(SupervisedJob::worker_0, {});
  job.expect_success();
}

// 200 ms each way, and 1 % of the packets are lost.
BOOST_AUTO_TEST_CASE(a_bad_wire_makes_training_slow_and_nothing_else) {
  const std::vector<std::string> model{"--train_steps=10", "--hidden=16", "--batch_size=16"};
  Lan lan(SupervisedJob::num_machines);
  for (int machine = 0; machine < SupervisedJob::num_machines; ++machine)
    lan.set_wire(machine, {.delay = 100ms, .loss = 0.005});
  auto flags = model;
  flags.insert(flags.end(), {digits, "--sync_replicas", "--heartbeat_timeout=5"});
  SupervisedJob job(flags, &lan);
  job.start_all();
  job.expect_success();
  BOOST_TEST(job.restarts() == 0);
  for (const auto& [name, index] : {std::pair{"ps", 0}, {"ps", 1}, {"chief", 0}, {"worker", 0}})
    BOOST_TEST(job.output(name, index).find(unheard) == std::string::npos, job.output(name, index));
  BOOST_TEST(report_value(job.report(), "weights_hash") == undisturbed_hash(model));
}

BOOST_AUTO_TEST_SUITE_END()
