// A handler throws in a real process: the step fails and the job ends with the reason, or the process
// ends with it and is started again, and training comes to its end. The simulation does that with every
// handler (simulation/planted_throws).
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "test/apps/support/ports.h"
#include "test/apps/support/process.h"
#include "test/apps/support/throw_once.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(planted_throws)

using namespace actorflow;
using test::cause_of, test::Process;

namespace {

constexpr const char* cause = "a planted error";

// A parameter server and a worker; a process that has ended itself is started again.
class Job {
 public:
  // The handlers that throw in their first life, as throw_once.cpp wants them; "" = none.
  // narrow: the task that throws takes tensors of 100 KiB only, so that training fails; it is started
  // again once.
  Job(const std::string& ps_throws, const std::string& worker_throws, bool narrow = false)
      : narrow_(narrow) {
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

  // Nobody hangs: each ends well, or because of what was thrown.
  void expect_end(const std::string& what, const std::string& why = cause) {
    for (auto* process : {worker_.get(), ps_.get()}) {
      const int status = process->wait();
      BOOST_TEST((status == 0 || (status == 1 && says(why))), what << ": " << status << "\n"
                                                                   << output());
    }
  }
  bool says(const std::string& text) { return output().find(text) != std::string::npos; }
  std::string output() { return worker_->output() + ps_->output(); }

 private:
  std::unique_ptr<Process> start(const std::string& job, const std::string& throws) {
    const std::string log = folder_.file(job + ".log");
    const std::string again = narrow_ ? "" : ACTORFLOW_BIN_DIR "/actorflow supervise --pause 0.3 ";
    const std::string script = "setpriv --pdeathsig KILL env ACTORFLOW_TEST_THROW=" + throws +
                               " " ACTORFLOW_BIN_DIR "/throwing_trainer \"$@\" > " + log +
                               " 2>&1; status=$?; cat " + log + "; grep -q 'this process ends' " + log +
                               " || exit $status; exec " + again + ACTORFLOW_BIN_DIR "/trainer \"$@\"";
    std::vector<std::string> command{"/bin/sh",       "-c", script, "sh", "--job_name=" + job,
                                     "--task_index=0"};
    command.insert(command.end(), flags_.begin(), flags_.end());
    if (narrow_ && !throws.empty()) command.emplace_back("--max_incoming_bytes=100KiB");
    return std::make_unique<Process>(std::move(command));
  }

  const test::Folder folder_;
  const bool narrow_;
  std::vector<std::string> flags_;
  std::unique_ptr<Process> ps_, worker_;
};

void expect_end(const std::string& ps_throws, const std::string& worker_throws) {
  Job(ps_throws, worker_throws)
      .expect_end("ps: " + ps_throws + ", worker: " + worker_throws,
                  cause_of(ps_throws.empty() ? worker_throws : ps_throws));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_handler_of_a_step_that_throws_fails_it_and_names_node_task_and_cause) {
  Job job("parameter-shard/StateCall:20", "");
  job.expect_end("parameter-shard/StateCall:20");
  for (const char* part : {"trainer: error: ", "node '",
                           "the parameter-shard of /job:ps/task:0 could not handle StateCall", cause})
    BOOST_TEST(job.says(part), part << " is missing:\n" << job.output());
}

BOOST_AUTO_TEST_CASE(a_handler_of_the_actors_own_state_that_throws_ends_the_process_and_says_why) {
  Job job("worker/LaneIdle:20", "");
  job.expect_end("worker/LaneIdle:20");
  for (const char* part :
       {"this process ends, because the worker of /job:ps/task:0 could not handle LaneIdle: ", cause})
    BOOST_TEST(job.says(part), part << " is missing:\n" << job.output());
}

BOOST_AUTO_TEST_CASE(throws_on_the_parameter_server_leave_nobody_waiting) {
  for (const char* throws :
       {"worker/RegisterGraph:2", "worker/RunGraph:20", "lane/StartStep:20", "lane/Completed:20",
        "rendezvous/AwaitTensor:20", "rendezvous/TensorDelivery:20", "coordinator/StateCall:20",
        "coordinator/GradientApplied:20", "parameter-shard/SetGlobalStep:20",
        "checkpoint-io/SaveTensors:2", "checkpoint-io/Tick:3", "peer/Message:20", "peer/LinkUp:1"})
    expect_end(throws, "");
}

BOOST_AUTO_TEST_CASE(throws_on_the_worker_leave_nobody_waiting) {
  for (const char* throws :
       {"master/MasterCall:20", "master/StepDone:20", "master/GraphRegistered:3", "worker/RunGraph:20",
        "lane/StartStep:20", "lane/Completed:20", "lane/Tick:1", "node/Fire:5",
        "rendezvous/AwaitTensor:20", "peer/Message:20", "peer/Beat:2"})
    expect_end("", throws);
}

// As they may be anywhere: memory that is short when a handler has done its work, say.
BOOST_AUTO_TEST_CASE(nor_do_other_exceptions_and_those_at_the_end_of_a_handler) {
  for (const char* throws :
       {"worker/RunGraph:20:after:no_memory", "lane/Completed:20:after:of_no_type",
        "rendezvous/TensorDelivery:20:after:no_memory", "coordinator/StateCall:20:before:no_memory",
        "parameter-shard/StateCall:20:after:of_no_type", "checkpoint-io/SaveTensors:2:after:no_memory",
        "checkpoint-io/Tick:3:before:no_memory", "peer/Message:20:after:no_memory",
        "peer/Message:20:before:of_no_type"})
    expect_end(throws, "");
  for (const char* throws : {"master/MasterCall:20:after:no_memory",
                             "master/StepDone:20:before:of_no_type", "node/Fire:5:before:no_memory",
                             "lane/StartStep:20:after:no_memory", "peer/Beat:2:after:no_memory"})
    expect_end("", throws);
}

// A graph and a tensor cannot come. The task that is told so dies of it, comes back and is told again.
BOOST_AUTO_TEST_CASE(a_throw_over_what_a_link_could_not_carry_hides_no_reason) {
  for (const std::string where : {"ps", "worker"})
    for (const std::string throws : {"worker/Undelivered:1", "worker/Undelivered:1:after:no_memory"}) {
      const bool on_ps = where == "ps";
      Job job(on_ps ? throws : "", on_ps ? "" : throws, true);
      const std::string task = "/job:" + where + "/task:0", reason = "cannot send to " + task;
      job.expect_end(throws, reason);
      for (const std::string& part :
           {"the worker of " + task + " could not handle Undelivered: ", cause_of(throws), reason,
            std::string("over its limit of 102400 bytes")})
        BOOST_TEST(job.says(part), throws << ": " << part << " is missing:\n" << job.output());
    }
}

BOOST_AUTO_TEST_SUITE_END()
