// Map/reduce jobs that lose all of their processes, and go on with --resume: the files are those of a
// job that nothing has disturbed, and what was done is not done again.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>

#include "test/apps/support/job_cluster.h"

BOOST_AUTO_TEST_SUITE(job_resume)

using namespace actorflow::test;

namespace {

constexpr std::size_t lines = 3000;

std::vector<std::string> resuming(const JobCluster& job) {
  return {"--work_folder", job.file("work"), "--resume"};
}

std::size_t parts_on_disk(const JobCluster& job) {
  std::size_t parts = 0;
  for (const auto& [name, bytes] : files_of(job.file("work")))
    parts += name.starts_with("stage-") && !name.ends_with(".tmp");
  return parts;
}

// What it did before it lost everything is in its work folder.
void lose_all_after_some_parts(JobCluster& job, const std::vector<std::string>& flags) {
  job.start_all(1000, flags);
  BOOST_TEST(comes_true([&] { return parts_on_disk(job) >= 6; }), job.coordinator().output());
  job.kill_all();
}

// Lines that the functions of the job were called for, as its progress says.
std::size_t lines_read(const std::string& output) {
  const std::regex records(R"(; (\d+) records, )");
  std::smatch match;
  return std::regex_search(output, match, records) ? std::stoul(match[1]) : 0;
}

// Of a job that goes on: some of the parts were made before.
void expect_less_work(const std::string& output) {
  BOOST_TEST(output.find("the job goes on: ") != std::string::npos, output);
  BOOST_TEST(output.find(" of an earlier run") != std::string::npos, output);
  BOOST_TEST(lines_read(output) < lines, output);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_killed_process_goes_on_where_it_was) {
  JobCluster job(1);
  lose_all_after_some_parts(job, resuming(job));
  job.start_all(0, resuming(job));
  job.expect_success();
  expect_less_work(job.coordinator().output());
  BOOST_TEST(files_of(job.file("work")).empty());
}

BOOST_AUTO_TEST_CASE(killed_processes_go_on_where_they_were) {
  JobCluster job(3);
  lose_all_after_some_parts(job, resuming(job));
  job.start_all(0, resuming(job));
  job.expect_success();
  expect_less_work(job.coordinator().output());
  BOOST_TEST(files_of(job.file("work")).empty());
}

BOOST_AUTO_TEST_CASE(with_other_threads_and_memory_too) {
  JobCluster job(1);
  lose_all_after_some_parts(job, resuming(job));
  auto flags = resuming(job);
  flags.insert(flags.end(), {"--tasks", "3", "--memory", "2GB"});
  job.start_all(0, flags);
  job.expect_success();
  expect_less_work(job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(a_new_coordinator_need_not_begin_anew) {
  JobCluster job(3);
  job.start_all(1000, resuming(job));
  BOOST_TEST(comes_true([&] { return parts_on_disk(job) >= 6; }), job.coordinator().output());
  job.coordinator().send_signal(SIGKILL);
  job.start(0, {.flags = resuming(job)});
  job.expect_success();
  expect_less_work(job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(damaged_chunks_are_made_again) {
  JobCluster job(1);
  lose_all_after_some_parts(job, resuming(job));
  for (const auto& [name, bytes] : files_of(job.file("work"))) {
    if (!name.starts_with("stage-")) continue;
    std::string damaged = bytes;
    damaged[damaged.size() / 3] ^= 1;
    write_file(job.file("work/") + name, damaged);
  }
  job.start_all(0, resuming(job));
  job.expect_success();
  BOOST_TEST(job.coordinator().output().find("is made again") != std::string::npos,
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(without_a_journal_the_job_begins) {
  JobCluster job(1);
  job.start_all(0, resuming(job));
  job.expect_success();
  BOOST_TEST(job.coordinator().output().find("there is no journal") != std::string::npos,
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(a_journal_that_is_not_resumed_is_refused_or_removed) {
  JobCluster job(1);
  lose_all_after_some_parts(job, resuming(job));
  job.start_all(0, {"--work_folder", job.file("work")});
  BOOST_TEST(job.coordinator().wait() == 1);
  BOOST_TEST(job.coordinator().output().find("has the journal of a job that has not ended") !=
                 std::string::npos,
             job.coordinator().output());
  job.start_all(0, {"--work_folder", job.file("work"), "--overwrite"});
  job.expect_success();
  BOOST_TEST(job.coordinator().output().find("of an earlier run") == std::string::npos,
             job.coordinator().output());
  BOOST_TEST(files_of(job.file("work")).empty());
}

BOOST_AUTO_TEST_CASE(another_job_is_refused_and_the_difference_named) {
  JobCluster job(1);
  lose_all_after_some_parts(job, resuming(job));
  auto flags = resuming(job);
  flags.insert(flags.end(), {"--partitions", "7"});
  job.start_all(0, flags);
  BOOST_TEST(job.coordinator().wait() == 1);
  BOOST_TEST(job.coordinator().output().find("where that had '--partitions 6', this one has "
                                             "'--partitions 7'") != std::string::npos,
             job.coordinator().output());
  job.start_all(0, resuming(job));  // what was done is still there
  job.expect_success();
  expect_less_work(job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(other_input_is_refused) {
  JobCluster job(1);
  lose_all_after_some_parts(job, resuming(job));
  job.change_input();
  job.start_all(0, resuming(job));
  BOOST_TEST(job.coordinator().wait() == 1);
  BOOST_TEST(job.coordinator().output().find(
                 "this is not the job that was begun: where that had '1 files") != std::string::npos,
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(other_input_of_the_same_size_is_refused) {
  JobCluster job(1);
  lose_all_after_some_parts(job, resuming(job));
  const std::string text = read_file(job.file("text"));
  write_file(job.file("text"), std::string(text.rbegin(), text.rend()));
  job.start_all(0, resuming(job));
  BOOST_TEST(job.coordinator().wait() == 1);
  BOOST_TEST(
      job.coordinator().output().find(
          "this is not the job that was begun: where that had 'last changed at ") != std::string::npos,
      job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(interrupted_it_says_how_to_go_on) {
  JobCluster job(1);
  job.start_all(1000, resuming(job));
  BOOST_TEST(comes_true([&] { return parts_on_disk(job) >= 6; }), job.coordinator().output());
  job.coordinator().send_signal(SIGINT);
  BOOST_TEST(job.coordinator().wait() == 130);
  BOOST_TEST(job.coordinator().output().find("--resume goes on from there") != std::string::npos,
             job.coordinator().output());
  job.start_all(0, resuming(job));
  job.expect_success();
  expect_less_work(job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(resume_wants_a_work_folder) {
  Process process({"slow_words", "--input", "x", "--output", "y", "--resume"});
  BOOST_TEST(process.wait() == 2);
  BOOST_TEST(process.output().find("--work_folder") != std::string::npos, process.output());
}

BOOST_AUTO_TEST_SUITE_END()
