// Tasks that are started again when their training job has ended: they leave, and say why. Without the
// mark in the folder of checkpoints each would wait for the others for an hour.
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "test/apps/support/trainers.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(after_the_end)

using namespace actorflow::test;

namespace {

// Two parameter servers and three workers.
struct Job {
  Trainers trainers;

  Job(const Folder& folder, int steps)
      : trainers(2, 3,
                 {"--train_steps=" + std::to_string(steps), "--data=digits", "--sync_replicas",
                  "--threads=1", "--connect_timeout=3600", "--checkpoint_dir=" + folder.path()}) {}

  void run() {
    trainers.start_all();
    trainers.expect_success();
  }
  // Starts a task again, alone.
  void expect_to_leave(const std::string& job, int task, const std::string& why) {
    Process& again = trainers.start(job, task);
    BOOST_TEST(again.wait() == 0, again.output());
    BOOST_TEST(again.output().find(why) != std::string::npos, again.output());
  }
};

const std::vector<std::pair<std::string, int>> each{
    {"ps", 0}, {"ps", 1}, {"worker", 0}, {"worker", 1}, {"worker", 2}};

std::string why_of(const Folder& folder, int steps) {
  return "training is complete: " + folder.file("training-complete") + " says so of " +
         std::to_string(steps) + " steps";
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_task_that_comes_back_alone_leaves_and_names_the_mark) {
  const Folder folder;
  Job job(folder, 20);
  job.run();
  for (const auto& [name, task] : each) job.expect_to_leave(name, task, why_of(folder, 20));
}

BOOST_AUTO_TEST_CASE(when_all_come_back_all_leave) {
  const Folder folder;
  Job job(folder, 20);
  job.run();
  job.run();
  for (const auto& [name, task] : each) {
    const std::string output = job.trainers.task(name, task).output();
    BOOST_TEST(output.find("training is complete") != std::string::npos, output);
  }
}

BOOST_AUTO_TEST_CASE(a_job_of_more_steps_trains_on_beside_the_mark) {
  const Folder folder;
  Job(folder, 20).run();
  Job more(folder, 30);
  more.run();
  BOOST_TEST(more.trainers.report_number("global_step") == 30);
  for (const auto& [name, task] : each) more.expect_to_leave(name, task, why_of(folder, 30));
  Job(folder, 20).expect_to_leave("worker", 1, why_of(folder, 30));
}

BOOST_AUTO_TEST_CASE(a_damaged_mark_is_named_and_the_job_ends_and_marks_again) {
  const Folder folder;
  Job job(folder, 20);
  job.run();
  write_file(folder.file("training-complete"), "20 steps");
  job.run();
  for (const auto& [name, task] : each) {
    const std::string output = job.trainers.task(name, task).output();
    BOOST_TEST(output.find("but is damaged") != std::string::npos, output);
  }
  job.expect_to_leave("worker", 2, why_of(folder, 20));
}

BOOST_AUTO_TEST_SUITE_END()
