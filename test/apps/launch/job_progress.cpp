#include "apps/launch/run/job_progress.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(job_progress)

using namespace actorflow;

namespace {

JobProgress job(int restarts) {
  JobSpec spec;
  spec.command = {"program"};
  spec.workers = 2;
  spec.ps = 1;
  return {lay_out(spec), restarts};
}

// What follows from an end, and what is said of it.
std::string after(JobProgress& progress, int task, const TaskEnd& end) {
  std::string says;
  const Consequence consequence = progress.ended(task, end, says);
  if (consequence == Consequence::none) return "none" + says;
  return (consequence == Consequence::end_job ? "end: " : "again: ") + says;
}

}  // namespace

BOOST_AUTO_TEST_CASE(without_a_budget_a_failure_ends_the_job) {
  JobProgress progress = job(0);
  BOOST_TEST(after(progress, 1, {3, 0, ""}) == "end: ended with status 3");
  BOOST_TEST(after(progress, 2, {137, 9, ""}) == "end: was killed by signal 9 (Killed)");
}

BOOST_AUTO_TEST_CASE(a_task_is_started_again_after_its_first_step_until_the_budget_of_the_job_is_used) {
  JobProgress progress = job(2);
  progress.is_alive(1);
  progress.is_alive(2);
  BOOST_TEST(after(progress, 1, {137, 9, ""}) ==
             "again: was killed by signal 9 (Killed); starting it again, 1 of 2 restarts is left");
  BOOST_TEST(progress.restarted(1).restart == 1);
  BOOST_TEST(progress.is_running(1));
  BOOST_TEST(after(progress, 2, {1, 0, ""}) ==
             "again: ended with status 1; starting it again, 0 of 2 restarts are left");
  progress.restarted(2);
  progress.is_alive(2);
  BOOST_TEST(after(progress, 2, {1, 0, ""}) == "end: ended with status 1; all 2 restarts are used");
}

BOOST_AUTO_TEST_CASE(a_task_that_dies_before_its_first_step_is_not_started_again) {
  JobProgress progress = job(9);
  BOOST_TEST(after(progress, 1, {1, 0, ""}) ==
             "end: ended with status 1; that was before its first step, so it is not started again");
  progress.is_alive(2);
  progress.ended(2, {1, 0, ""}, *std::make_unique<std::string>());
  progress.restarted(2);
  BOOST_TEST(after(progress, 2, {1, 0, ""}).starts_with("end: "));
}

BOOST_AUTO_TEST_CASE(wrong_arguments_and_interrupts_are_no_reason_to_start_again) {
  JobProgress progress = job(9);
  for (const int task : {0, 1, 2}) progress.is_alive(task);
  BOOST_TEST(after(progress, 0, {2, 0, ""}) ==
             "end: ended with status 2; wrong arguments, so it is not started again");
  BOOST_TEST(after(progress, 1, {130, 0, ""}) == "end: ended with status 130");
  BOOST_TEST(after(progress, 2, {127, 0, "no such file"}) == "end: could not be started: no such file");
}

BOOST_AUTO_TEST_CASE(a_task_that_is_added_runs) {
  JobProgress progress = job(0);
  const int added = progress.add(progress.tasks()[1]);
  BOOST_TEST(progress.is_running(added));
  for (const int task : {0, 1, 2}) progress.ended(task, {}, *std::make_unique<std::string>());
  BOOST_TEST(!progress.all_have_ended());
  progress.ended(added, {}, *std::make_unique<std::string>());
  BOOST_TEST(progress.all_have_ended());
}

BOOST_AUTO_TEST_CASE(work_is_done_when_only_parameter_servers_are_left) {
  JobProgress progress = job(0);
  BOOST_TEST(after(progress, 1, {}) == "none");
  BOOST_TEST(!progress.work_is_done());
  BOOST_TEST(after(progress, 2, {}) == "none");
  BOOST_TEST(progress.work_is_done());
  BOOST_TEST(!progress.all_have_ended());
  BOOST_TEST(after(progress, 0, {}) == "none");
  BOOST_TEST(progress.all_have_ended());
}

BOOST_AUTO_TEST_SUITE_END()
