// Map/reduce jobs on several processes, some of which are lost, stopped or slow: the files are those
// that one process writes.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "test/apps/support/job_cluster.h"

BOOST_AUTO_TEST_SUITE(job_clusters)

using namespace actorflow::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// In the order of the words.
std::vector<std::string> counts_of(const JobCluster& job) {
  std::vector<std::string> counts;
  for (const auto& [name, text] : files_of(job.file("out"))) {
    if (name == "_SUCCESS") continue;
    for (const auto& line : lines_of(text)) counts.push_back(line.substr(line.find(',') + 1));
  }
  return counts;
}

// Every so manieth line of each task's file in turn.
std::vector<std::string> dealt_back(const std::vector<std::vector<std::string>>& shares) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < shares[0].size(); ++i)
    for (const auto& share : shares)
      if (i < share.size()) all.push_back(share[i]);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(three_processes_write_what_one_writes) {
  JobCluster job(3);
  job.start_all(100);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(the_first_process_alone_prints_the_counters) {
  JobCluster job(3);
  job.start_all(100);
  job.expect_success();
  for (std::size_t task = 0; task < 3; ++task)
    BOOST_TEST((job[task].output().find("\nlines: 3000\n") != std::string::npos) == (task == 0),
               job[task].output());
}

BOOST_AUTO_TEST_CASE(processes_that_go_when_the_job_has_ended_do_not_count_as_lost) {
  JobCluster job(4);
  for (std::size_t task = 0; task < 4; ++task)
    job.start(task, {.flags = {"--heartbeat_timeout_ms", "60000"}});
  job.expect_success();
  BOOST_TEST(job.coordinator().output().find("run again elsewhere") == std::string::npos,
             job.coordinator().output());
}

// Which pack what they send each other.
BOOST_AUTO_TEST_CASE(so_do_processes_of_several_machines) {
  JobCluster job(3);
  job.use_several_hosts();
  job.start_all(100);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_changes_no_byte) {
  JobCluster job(4);
  job.start_all(1000);
  BOOST_TEST(job[2].prints("counting"));
  job[2].send_signal(SIGKILL);
  job.forget(2);
  job.expect_success();
  BOOST_TEST(job.coordinator().output().find("run again elsewhere") != std::string::npos,
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(a_process_that_comes_back_takes_part) {
  JobCluster job(2);
  job.start_all(1000);
  BOOST_TEST(job[1].prints("counting"));
  job[1].send_signal(SIGKILL);
  job.start(1, {.slow_us = 1000});
  BOOST_TEST(job[1].prints("counting"));
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_process_that_comes_back_gets_its_share_of_an_earlier_stage_again) {
  JobCluster job(2);
  const std::string folder = job.file("shares");
  std::filesystem::create_directory(folder);
  job.start_all(3000, {"--shares", folder});
  BOOST_TEST(job[1].prints("counting"));
  job[1].send_signal(SIGKILL);
  BOOST_TEST(std::filesystem::remove(folder + "/share1"));
  job.start(1, {.slow_us = 3000});
  job.expect_success();
  const auto dealt =
      dealt_back({lines_of(read_file(folder + "/share0")), lines_of(read_file(folder + "/share1"))});
  BOOST_TEST(dealt.size() == 700u);
  BOOST_TEST(dealt == counts_of(job), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_process_that_is_stopped_is_not_waited_for) {
  JobCluster job(3);
  job.start_all(500);
  BOOST_TEST(job[1].prints("counting"));
  job[1].send_signal(SIGSTOP);
  BOOST_TEST(job.coordinator().wait() == 0, job.coordinator().output());
  BOOST_TEST(job[2].wait() == 0, job[2].output());
  job.expect_result();
  job.forget(1);
}

BOOST_AUTO_TEST_CASE(a_slow_process_is_helped) {
  JobCluster job(3);
  job.start(0, {.slow_us = 1000});
  job.start(1, {.slow_us = 1000});
  job.start(2, {.slow_us = 50'000});
  BOOST_TEST(job[2].prints("counting"));
  BOOST_TEST(job.coordinator().wait() == 0, job.coordinator().output());
  job.expect_result();
  BOOST_TEST(job.coordinator().output().find("run twice") != std::string::npos,
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(the_others_begin_anew_with_a_new_coordinator) {
  JobCluster job(3, {"--overwrite"});
  job.start_all(1000);
  BOOST_TEST(job[1].prints("counting"));
  job.coordinator().send_signal(SIGKILL);
  job.start(0, {});
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_process_without_a_coordinator_says_so_and_ends) {
  Process process({"slow_words", "--cluster", "127.0.0.1:1,127.0.0.1:0", "--task_index", "1",
                   "--connect_timeout_ms", "3000"});
  BOOST_TEST(process.prints("waiting for /job:worker/task:0"), process.output());
  BOOST_TEST(process.wait() == 138);
  BOOST_TEST(process.output().find("says what the job is") != std::string::npos, process.output());
}

BOOST_AUTO_TEST_CASE(programs_that_count_in_one_process_refuse_several) {
  for (const char* program : {"histogram", "sparse_regression"}) {
    JobCluster job(2);
    for (std::size_t task = 0; task < 2; ++task) job.start(task, {.program = program});
    BOOST_TEST(job.coordinator().wait() == 2, job.coordinator().output());
    BOOST_TEST(
        job.coordinator().output().find("expected one process, got a cluster") != std::string::npos,
        job.coordinator().output());
    BOOST_TEST(job[1].wait() != 0, job[1].output());
    BOOST_TEST(files_of(job.file("out")).empty());
  }
}

BOOST_AUTO_TEST_CASE(another_program_is_refused) {
  JobCluster job(2);
  job.start(1, {.program = "word_count"});
  BOOST_TEST(job[1].prints("waiting for"));
  job.start(0, {.slow_us = 1000});
  BOOST_TEST(job[1].wait() == 1);
  BOOST_TEST(job[1].output().find("runs another build of the program") != std::string::npos,
             job[1].output());
  job.forget(1);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(all_processes_end_with_the_error_of_the_job) {
  JobCluster job(2, {"--no_such_parameter", "1"});
  job.start_all(100);
  for (std::size_t task = 0; task < 2; ++task) {
    BOOST_TEST(job[task].wait() != 0);
    BOOST_TEST(job[task].output().find("--no_such_parameter was given") != std::string::npos,
               job[task].output());
  }
}

BOOST_AUTO_TEST_CASE(interrupted_all_of_them_end) {
  JobCluster job(3);
  job.start_all(3000);
  BOOST_TEST(job[1].prints("counting"));
  job.coordinator().send_signal(SIGINT);
  for (std::size_t task = 0; task < 3; ++task) BOOST_TEST(job[task].wait() == 130, job[task].output());
}

BOOST_AUTO_TEST_SUITE_END()
