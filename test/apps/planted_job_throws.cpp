// A handler throws in one of three processes of a map/reduce job: the process ends with the reason, is
// started again, and the job's files are those that one process writes; or the job ends with an error
// that names task and cause. The simulation does that with every handler (simulation/planted_throws).
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "actors/runtime/exit_status.h"
#include "test/apps/support/job_cluster.h"
#include "test/apps/support/throw_once.h"

BOOST_AUTO_TEST_SUITE(planted_job_throws)

using namespace actorflow;
using test::JobCluster;

namespace {

constexpr std::size_t tasks = 3;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A job with a journal; one of its tasks throws where throw_once.cpp says.
class ThrowingJob {
 public:
  // slow_us: what a line takes; the job takes as long as a thousand lines, or more.
  ThrowingJob(std::size_t thrower, std::string throws, int slow_us)
      : thrower_(thrower), throws_(std::move(throws)), slow_us_(slow_us) {
    if (thrower_ != 0) {  // else the others may be done before it comes
      begin(thrower_);
      BOOST_REQUIRE(test::comes_true([this] {  // it may have thrown by then
        return test::is_listening(job_.address(thrower_)) || job_[thrower_].has_ended();
      }));
    }
    for (std::size_t task = 0; task < tasks; ++task)
      if (task == 0 || task != thrower_) begin(task);
  }

  void expect_end() {
    const int status = job_[thrower_].wait();
    if (status == failed_run) return expect_error();
    said_ = job_[thrower_].output();
    BOOST_TEST((status == 0 || status == lost_task), throws_ << ": " << status << "\n" << said_);
    if (status == lost_task) {
      expect_said("this process ends, because " + complaint());
      start_again();
    }
    job_.expect_success();
    for (std::size_t task = 0; task < tasks; ++task)
      if (!is_late_ || task != thrower_) said_ += job_[task].output();
    expect_said(complaint());
    expect_said(test::cause_of(throws_));
  }

 private:
  void begin(std::size_t task) {
    start(task, {.slow_us = slow_us_,
                 .program = "throwing_words",
                 .environment = {"ACTORFLOW_TEST_THROW=" + (task == thrower_ ? throws_ : "")}});
  }
  // Only the first task knows what the job is, and has the journal.
  void start(std::size_t task, JobCluster::Start how) {
    if (task == 0) how.flags.insert(how.flags.end(), {"--work_folder", job_.file("work"), "--resume"});
    job_.start(task, how);
  }

  // One that comes when the others have ended the job without it finds nobody, and says so.
  void start_again() {
    start(thrower_,
          {.slow_us = slow_us_, .program = "throwing_words", .flags = {"--connect_timeout_ms", "3000"}});
    if (thrower_ == 0 || job_[thrower_].wait() != lost_task) return;
    is_late_ = true;
    said_ += job_[thrower_].output();
    expect_said("for /job:worker/task:0, which says what the job is");
    job_.forget(thrower_);
  }

  // Said before the cause, wherever one hears of it.
  std::string complaint() const {
    const std::string handler = throws_.substr(0, throws_.find(':'));
    const auto slash = handler.find('/');
    return "the " + handler.substr(0, slash) + " of /job:worker/task:" + std::to_string(thrower_) +
           " could not handle " + handler.substr(slash + 1) + ": ";
  }
  void expect_said(const std::string& what) const {
    BOOST_TEST(has(said_, what), throws_ << ": '" << what << "' is not in\n" << said_);
  }

  // All say the same.
  void expect_error() {
    for (std::size_t task = 0; task < tasks; ++task) {
      BOOST_TEST(job_[task].wait() == failed_run, throws_);
      said_ = job_[task].output();
      expect_said(complaint());
      expect_said(test::cause_of(throws_));
    }
  }

  JobCluster job_{tasks};
  const std::size_t thrower_;
  const std::string throws_;
  const int slow_us_;
  bool is_late_ = false;
  std::string said_;
};

void expect_end(std::size_t thrower, const std::vector<std::string>& all, int slow_us = 600) {
  for (const auto& throws : all) ThrowingJob(thrower, throws, slow_us).expect_end();
}

}  // namespace

BOOST_AUTO_TEST_CASE(in_the_process_that_coordinates) {
  expect_end(0, {"job-coordinator/CoordinateStage:1", "job-coordinator/StageReady:1",
                 "job-coordinator/PartRan:2:after:no_memory", "job-coordinator/PartMade:2",
                 "job-coordinator/ActorMessage:8:before:of_no_type",
                 "job-coordinator/ActorMessage:12:after", "job-coordinator/EndJob:1"});
}

BOOST_AUTO_TEST_CASE(in_the_journal) {
  expect_end(0, {"job-journal/JournaledStage:1", "job-journal/JournaledPart:2:after:no_memory",
                 "job-journal/Tick:1:before:of_no_type", "job-journal/WriteOutput:1:after",
                 "job-journal/CloseJournal:1"});
}

BOOST_AUTO_TEST_CASE(in_what_runs_parts_beside_the_coordinator) {
  expect_end(0, {"job-agent/BeginStage:2", "job-agent/RunPart:2", "job-agent/AcceptPart:1:after",
                 "job-agent/StageDone:1:before:no_memory", "part/Tick:2:before:of_no_type",
                 "part/CommitAttempt:1", "slices/ActorMessage:2"});
}

// Lines are slow enough that the process is there in time to have a part in the job.
BOOST_AUTO_TEST_CASE(in_another_process) {
  constexpr int slow_us = 1000;
  expect_end(1,
             {"job-agent/AwaitJob:1", "job-agent/BeginStage:1:after:no_memory",
              "job-agent/ActorMessage:4:before:of_no_type", "job-agent/ActorMessage:6:after",
              "job-agent/AttemptRan:2", "job-agent/AttemptMade:1:after:of_no_type", "part/Tick:2",
              "part/Tick:1:before:no_memory", "part/CommitAttempt:1:before:of_no_type",
              "slices/ActorMessage:2:after:no_memory", "slices/ActorMessage:1"},
             slow_us);
}

// Twice a second.
BOOST_AUTO_TEST_CASE(in_what_runs_now_and_then) {
  constexpr int slow_us = 2000;
  expect_end(0, {"job-coordinator/Tick:1"}, slow_us);
  expect_end(1, {"job-agent/Tick:1:after:no_memory"}, slow_us);
}

BOOST_AUTO_TEST_SUITE_END()
