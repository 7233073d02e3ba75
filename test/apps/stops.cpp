// SIGSTOP, then SIGCONT, of tasks of a training job: noticed, waited for by name, and fenced.
#include <boost/test/unit_test.hpp>

#include "schema/rpc/master_client.h"
#include "test/apps/support/counting_job.h"
#include "test/apps/support/supervised_job.h"
#include "test/apps/support/trainers.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(stops)

using namespace actorflow::test;

namespace {

const std::vector<std::string> synchronous = {"--train_steps=600", "--data=digits", "--sync_replicas",
                                              "--heartbeat_timeout=1"};
const std::string unheard = " is connected, but has said nothing for ";

// What the same training comes to when nobody is stopped.
const std::string& undisturbed_hash() {
  static const std::string hash = report_value(
      train_in_one_process({"--sync", "--ps=2", "--workers=3", "--train-steps=600", "--data=digits"}),
      "weights_hash");
  return hash;
}

struct Task {
  std::string job;
  int index;
  std::string name() const { return "/job:" + job + "/task:" + std::to_string(index); }
};

// Stops one task, waits until another names it, and lets it go on.
void train_through_a_stop_of(const Task& stopped, const Task& witness) {
  SupervisedJob job(synchronous);
  job.start_all();
  job.wait_for_step(100);
  job.signal(stopped.job, stopped.index, SIGSTOP);
  job.expect_output(witness.job, witness.index,
                    stopped.name() + " at " + job.address(stopped.job, stopped.index) + unheard);
  job.signal(stopped.job, stopped.index, SIGCONT);
  job.expect_success();
  BOOST_TEST(job.restarts() == 0);
  BOOST_TEST(report_value(job.report(), "global_step") == "600");
  BOOST_TEST(report_value(job.report(), "weights_hash") == undisturbed_hash());
}

}  // namespace

BOOST_AUTO_TEST_CASE(of_a_worker) { train_through_a_stop_of({"worker", 0}, {"chief", 0}); }

BOOST_AUTO_TEST_CASE(of_a_parameter_server) { train_through_a_stop_of({"ps", 1}, {"worker", 0}); }

BOOST_AUTO_TEST_CASE(of_the_chief) { train_through_a_stop_of({"chief", 0}, {"worker", 0}); }

BOOST_AUTO_TEST_CASE(asynchronous_training_goes_on_without_a_stopped_worker) {
  SupervisedJob job(
      {"--train_steps=4000", "--data=digits", "--staleness_bound=5", "--heartbeat_timeout=1"});
  job.start_all();
  job.wait_for_step(200);
  job.signal("worker", 0, SIGSTOP);
  job.expect_output("chief", 0, unheard);
  job.wait_for_step(job.saved_step() + 200);
  job.signal("worker", 0, SIGCONT);
  job.expect_success();
  BOOST_TEST(job.restarts() == 0);
  BOOST_TEST(std::stod(report_value(job.report(), "test_accuracy")) >= 0.85);
}

// What the stopped one had sent, and what it sends when it is back, counts once. So many steps that the
// others are not done before.
BOOST_AUTO_TEST_CASE(of_asynchronous_workers_count_each_update_once) {
  CountingJob job(8000, {"--heartbeat_timeout=1"});
  job.start_all();
  for (const int worker : {1, 2}) {
    BOOST_REQUIRE(job.task("worker", worker).prints("counted 200\n"));
    job.task("worker", worker).send_signal(SIGSTOP);
    const std::string name = "/job:worker/task:" + std::to_string(worker);
    BOOST_TEST(job.task("ps", 0).prints(name + " at " + job.address("worker", worker) + unheard),
               job.task("ps", 0).output());
    job.task("worker", worker).send_signal(SIGCONT);
  }
  job.expect_each_update_counted_once();
}

BOOST_AUTO_TEST_CASE(a_client_of_a_stopped_server_does_not_hang) {
  const auto address = free_addresses(1).front();
  Process server({"actorflow", "server", "--cluster", R"({"ps": [")" + address + R"("]})", "--job", "ps",
                  "--task", "0"});
  BOOST_REQUIRE(server.prints("listening"));
  actorflow::MasterClient client(address, actorflow::heap(), 60'000, {}, 1'000);
  BOOST_TEST(client.call(actorflow::ListDevices{}).status.ok());
  server.send_signal(SIGSTOP);
  const auto status = client.call(actorflow::ListDevices{}).status;
  BOOST_TEST((status.code == actorflow::Code::unavailable), status.to_string());
  BOOST_TEST(status.message.find("has answered nothing for 1000 ms") != std::string::npos,
             status.message);
  BOOST_TEST(status.message.find(address) != std::string::npos, status.message);
  server.send_signal(SIGCONT);
  actorflow::MasterClient again(address, actorflow::heap(), 60'000);
  BOOST_TEST(again.call(actorflow::ListDevices{}).status.ok());
}

BOOST_AUTO_TEST_SUITE_END()
