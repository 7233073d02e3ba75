// A handler throws in a real process: the step fails and the job ends with the reason, or the process
// ends with it and is started again, and training comes to its end. The simulation does that with every
// handler (simulation/planted_throws).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/apps/support/process.h"
#include "test/apps/support/throw_once.h"
#include "test/support/folder.h"
#include "test/support/hang_limit.h"
#include "test/support/ports.h"

BOOST_AUTO_TEST_SUITE(planted_throws)

using namespace actorflow;
using test::cause_of, test::Process;

namespace {

constexpr const char* cause = "a planted error";

enum class Links { wide, narrow };

// Parameter servers and workers; a process that has ended itself is started again.
class Job {
 public:
  // `throws`: the handler that throws in the first life of a task of the job `thrower`, as
  // throw_once.cpp wants it. Narrow links: that task takes tensors of 100 KiB only, so that training
  // fails; it is started again once, and is the only one of its job, to which every large tensor has to
  // come.
  Job(const std::string& thrower, const std::string& throws, Links links = Links::wide)
      : narrow_(links == Links::narrow) {
    const int ps = narrow_ ? 1 : 2, workers = narrow_ ? 1 : 3;
    // A task that saves piece by piece: the second server, which has the weights, and many of them.
    const bool saves = throws.starts_with("checkpoint-io/");
    // So that a lane gives nodes away to other actors, whose answers it has to look for.
    const bool costly = throws.starts_with("node/") || throws.starts_with("lane/Tick");
    const int hidden = narrow_ ? 1024 : saves || costly ? 2048 : 128, throwing = saves ? 1 : 0;
    // Long enough for a heartbeat.
    const int steps = throws.starts_with("peer/Beat") ? 1000 : 60;
    const auto addresses = test::free_addresses(ps + workers);
    const auto first_worker = addresses.begin() + ps;
    flags_ = {fmt::format("--ps_hosts={}", fmt::join(addresses.begin(), first_worker, ",")),
              fmt::format("--worker_hosts={}", fmt::join(first_worker, addresses.end(), ",")),
              "--data=digits",
              fmt::format("--hidden={}", hidden),
              "--heartbeat_timeout=2",
              "--connect_timeout=10",
              fmt::format("--train_steps={}", steps),
              "--sync_replicas",
              "--save_checkpoint_steps=20",
              "--checkpoint_dir=" + folder_.file("checkpoints"),
              "--report=" + folder_.file("report.json")};
    // The one that throws comes when the others are there: a task that comes when these have failed
    // waits for them.
    for (int task = 0; task < ps + workers; ++task) {
      const auto [job, index] = task < ps ? std::pair("ps", task) : std::pair("worker", task - ps);
      if (job != thrower || index != throwing) start(job, index, "");
    }
    const auto& own = addresses[static_cast<std::size_t>(thrower == "ps" ? throwing : ps + throwing)];
    for (const auto& address : addresses)
      if (address != own) await_listening(address);
    start(thrower, throwing, throws);
  }

  // Nobody hangs: each ends well, or because of what was thrown.
  void expect_end(const std::string& what, const std::string& why = cause) {
    for (const auto& process : tasks_) {
      const int status = process->wait();
      BOOST_TEST((status == 0 || (status == 1 && says(why))), what << ": " << status << "\n"
                                                                   << output());
    }
    BOOST_TEST(says(test::throws_here), what << ": nothing was thrown\n" << output());
  }
  bool says(const std::string& text) { return output().find(text) != std::string::npos; }
  std::string output() {
    std::string all;
    for (const auto& process : tasks_) all += process->output();
    return all;
  }

 private:
  static void await_listening(const std::string& address) {
    const auto end = std::chrono::steady_clock::now() + test::hang_limit;
    while (!test::is_listening(address)) {
      BOOST_REQUIRE_MESSAGE(std::chrono::steady_clock::now() < end, "nobody listens at " << address);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  void start(const std::string& job, int task, const std::string& throws) {
    const std::string log = folder_.file(fmt::format("{}{}.log", job, task));
    const std::string again = narrow_ ? "" : ACTORFLOW_BIN_DIR "/actorflow supervise --pause 0.3 ";
    const std::string script = "setpriv --pdeathsig KILL env ACTORFLOW_TEST_THROW=" + throws +
                               " " ACTORFLOW_BIN_DIR "/throwing_trainer \"$@\" > " + log +
                               " 2>&1; status=$?; cat " + log + "; grep -q 'this process ends' " + log +
                               " || exit $status; exec " + again + ACTORFLOW_BIN_DIR "/trainer \"$@\"";
    std::vector<std::string> command{
        "/bin/sh", "-c", script, "sh", "--job_name=" + job, fmt::format("--task_index={}", task)};
    command.insert(command.end(), flags_.begin(), flags_.end());
    if (narrow_ && !throws.empty()) command.emplace_back("--max_incoming_bytes=100KiB");
    tasks_.push_back(std::make_unique<Process>(std::move(command)));
  }

  const test::Folder folder_;
  const bool narrow_;
  std::vector<std::string> flags_;
  std::vector<std::unique_ptr<Process>> tasks_;
};

void expect_end(const std::string& thrower, const std::string& throws) {
  Job(thrower, throws).expect_end(thrower + ": " + throws, cause_of(throws));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_handler_of_a_step_that_throws_fails_it_and_names_node_task_and_cause) {
  Job job("ps", "parameter-shard/StateCall:20");
  job.expect_end("parameter-shard/StateCall:20");
  for (const char* part : {"trainer: error: ", "node '",
                           "the parameter-shard of /job:ps/task:0 could not handle StateCall", cause})
    BOOST_TEST(job.says(part), part << " is missing:\n" << job.output());
}

BOOST_AUTO_TEST_CASE(a_handler_of_the_actors_own_state_that_throws_ends_the_process_and_says_why) {
  Job job("ps", "worker/LaneIdle:20");
  job.expect_end("worker/LaneIdle:20");
  for (const char* part :
       {"this process ends, because the worker of /job:ps/task:0 could not handle LaneIdle: ", cause})
    BOOST_TEST(job.says(part), part << " is missing:\n" << job.output());
}

BOOST_AUTO_TEST_CASE(throws_on_the_parameter_server_leave_nobody_waiting) {
  for (const char* throws :
       {"worker/RegisterGraph:2", "worker/RunGraph:20", "lane/StartStep:20", "lane/Completed:20",
        "rendezvous/AwaitTensor:20", "rendezvous/TensorDelivery:20", "coordinator/StateCall:20",
        "coordinator/GradientApplied:20", "coordinator/GlobalStepIs:1",
        "parameter-shard/AskGlobalStep:1", "parameter-shard/SetGlobalStep:20",
        "checkpoint-io/SaveTensors:2", "checkpoint-io/Tick:3", "peer/Message:20", "peer/LinkUp:1"})
    expect_end("ps", throws);
}

BOOST_AUTO_TEST_CASE(throws_on_the_worker_leave_nobody_waiting) {
  for (const char* throws :
       {"master/MasterCall:20", "master/StepDone:20", "master/GraphRegistered:3", "worker/RunGraph:20",
        "lane/StartStep:20", "lane/Completed:20", "lane/Tick:1", "node/Fire:5",
        "rendezvous/AwaitTensor:20", "peer/Message:20", "peer/Beat:1"})
    expect_end("worker", throws);
}

// As they may be anywhere: memory that is short when a handler has done its work, say.
BOOST_AUTO_TEST_CASE(nor_do_other_exceptions_and_those_at_the_end_of_a_handler) {
  for (const char* throws :
       {"worker/RunGraph:20:after:no_memory", "lane/Completed:20:after:of_no_type",
        "rendezvous/TensorDelivery:20:after:no_memory", "coordinator/StateCall:20:before:no_memory",
        "parameter-shard/StateCall:20:after:of_no_type", "checkpoint-io/SaveTensors:2:after:no_memory",
        "checkpoint-io/Tick:3:before:no_memory", "peer/Message:20:after:no_memory",
        "peer/Message:20:before:of_no_type"})
    expect_end("ps", throws);
  for (const char* throws : {"master/MasterCall:20:after:no_memory",
                             "master/StepDone:20:before:of_no_type", "node/Fire:5:before:no_memory",
                             "lane/StartStep:20:after:no_memory", "peer/Beat:1:after:no_memory"})
    expect_end("worker", throws);
}

// A graph and a tensor cannot come. The task that is told so dies of it, comes back and is told again.
BOOST_AUTO_TEST_CASE(a_throw_over_what_a_link_could_not_carry_hides_no_reason) {
  for (const std::string where : {"ps", "worker"})
    for (const std::string throws : {"worker/Undelivered:1", "worker/Undelivered:1:after:no_memory"}) {
      Job job(where, throws, Links::narrow);
      const std::string task = "/job:" + where + "/task:0", reason = "cannot send to " + task;
      job.expect_end(throws, reason);
      for (const std::string& part :
           {"the worker of " + task + " could not handle Undelivered: ", cause_of(throws), reason,
            std::string("over its limit of 102400 bytes")})
        BOOST_TEST(job.says(part), throws << ": " << part << " is missing:\n" << job.output());
    }
}

BOOST_AUTO_TEST_SUITE_END()
