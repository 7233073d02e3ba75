// A handler throws in a real process: the step or the process fails and says why, and when what has
// ended is started again, training comes to its end. The simulation does that with every handler
// (simulation/planted_throws).
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"
#include "test/support/folder.h"

using namespace actorflow;
using test::Process;

namespace {

constexpr const char* cause = "a planted error";

// A parameter server and a worker; what ends with an error is started again.
class Job {
 public:
  // The handlers that throw in their first life, as throw_once.cpp wants them; "" = none.
  Job(const std::string& ps_throws, const std::string& worker_throws) {
    const auto addresses = test::free_addresses(2);
    flags_ = {"--ps_hosts=" + addresses[0],
              "--worker_hosts=" + addresses[1],
              "--train_steps=60",
              "--sync_replicas",
              "--save_checkpoint_steps=20",
              "--checkpoint_dir=" + folder_.file("checkpoints"),
              "--report=" + folder_.file("report.json")};
    ps_ = start("ps", ps_throws);
    worker_ = start("worker", worker_throws);
  }

  void expect_success(const std::string& what) {
    for (auto* process : {worker_.get(), ps_.get()})
      BOOST_TEST(process->wait() == 0, what << ":\n" << process->output());
  }
  // How often a process has ended with an error.
  bool has_failed() { return output().find("starting again") != std::string::npos; }
  std::string output() { return worker_->output() + ps_->output(); }

 private:
  std::unique_ptr<Process> start(const std::string& job, const std::string& throws) {
    const std::string script =
        "setpriv --pdeathsig KILL env ACTORFLOW_TEST_THROW=" + throws +
        " " ACTORFLOW_BIN_DIR
        "/throwing_trainer \"$@\" || { echo starting again; exec " ACTORFLOW_SOURCE_DIR
        "/apps/supervise -d 0.3 " ACTORFLOW_BIN_DIR "/trainer \"$@\"; }";
    std::vector<std::string> command{"/bin/sh",       "-c", script, "sh", "--job_name=" + job,
                                     "--task_index=0"};
    command.insert(command.end(), flags_.begin(), flags_.end());
    return std::make_unique<Process>(std::move(command));
  }

  const test::Folder folder_;
  std::vector<std::string> flags_;
  std::unique_ptr<Process> ps_, worker_;
};

void expect_recovery(const std::string& ps_throws, const std::string& worker_throws) {
  const std::string what = "ps: " + ps_throws + ", worker: " + worker_throws;
  Job job(ps_throws, worker_throws);
  job.expect_success(what);
  if (job.has_failed())
    BOOST_TEST(job.output().find(cause) != std::string::npos, what << ":\n" << job.output());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(planted_throws)

// An update of the parameter server fails: so does the step, and what it says names node and task.
BOOST_AUTO_TEST_CASE(a_handler_of_a_step_that_throws_fails_it_and_names_node_task_and_cause) {
  Job job("parameter-shard/StateCall:20", "");
  job.expect_success("parameter-shard/StateCall:20");
  BOOST_TEST(job.has_failed());
  for (const char* part :
       {"node '", "the parameter-shard of /job:ps/task:0 could not handle StateCall", cause})
    BOOST_TEST(job.output().find(part) != std::string::npos, part << " is missing:\n" << job.output());
}

BOOST_AUTO_TEST_CASE(a_handler_of_the_actors_own_state_that_throws_ends_the_process_and_says_why) {
  Job job("worker/LaneIdle:20", "");
  job.expect_success("worker/LaneIdle:20");
  BOOST_TEST(job.has_failed());
  const char* reason =
      "this process ends, because the worker of /job:ps/task:0 could not handle LaneIdle: ";
  BOOST_TEST(job.output().find(reason) != std::string::npos, job.output());
  BOOST_TEST(job.output().find(cause) != std::string::npos, job.output());
}

BOOST_AUTO_TEST_CASE(throws_on_the_parameter_server_leave_nobody_waiting) {
  for (const char* throws :
       {"worker/RegisterGraph:2", "worker/RunGraph:20", "lane/StartStep:20", "lane/Completed:20",
        "rendezvous/AwaitTensor:20", "rendezvous/TensorDelivery:20", "coordinator/StateCall:20",
        "coordinator/GradientApplied:20", "parameter-shard/SetGlobalStep:20",
        "checkpoint-io/SaveTensors:2", "checkpoint-io/Tick:3", "peer/Message:20", "peer/LinkUp:1"})
    expect_recovery(throws, "");
}

BOOST_AUTO_TEST_CASE(throws_on_the_worker_leave_nobody_waiting) {
  for (const char* throws :
       {"master/MasterCall:20", "master/StepDone:20", "master/GraphRegistered:3", "worker/RunGraph:20",
        "lane/StartStep:20", "lane/Completed:20", "lane/Tick:1", "node/Fire:5",
        "rendezvous/AwaitTensor:20", "peer/Message:20", "peer/Beat:2"})
    expect_recovery("", throws);
}

BOOST_AUTO_TEST_SUITE_END()
