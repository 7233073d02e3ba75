// Map/reduce jobs on processes whose disks fail or are full, or whose memory is scarce, and whose flags
// differ: the files are those that one process writes, or the error says what was missing.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "apps/rehearsal/memory_disk.h"
#include "schema/parquet/parquet_file.h"
#include "test/apps/support/job_cluster.h"
#include "test/support/sanitized.h"

BOOST_AUTO_TEST_SUITE(job_resources)

using namespace actorflow::test;

namespace {

// See broken_disk/; the rules are of all processes that are started with this environment.
std::vector<std::string> broken_disk(const JobCluster& job, const std::string& rules,
                                     const std::string& file = "rules") {
  write_file(job.file(file), rules);
  return {"LD_PRELOAD=" ACTORFLOW_BROKEN_DISK, "BROKEN_DISK=" + job.file(file)};
}

std::string rule(const std::string& call, int error, const std::string& times = "") {
  return call + " " + std::to_string(error) + " " + times + "\n";
}

bool says(Process& process, const std::string& text) {
  return process.output().find(text) != std::string::npos;
}

// Whether small allocations can be made to fail: a sanitizer's allocator ends the program.
boost::test_tools::assertion_result can_be_scarce(boost::unit_test::test_unit_id) {
  return !actorflow::test::sanitized;
}

boost::test_tools::assertion_result has_memory_disk(boost::unit_test::test_unit_id) {
  static const std::string why = actorflow::MemoryDisk::why_none();
  boost::test_tools::assertion_result result(why.empty());
  result.message() << why;
  return result;
}

boost::test_tools::assertion_result has_parquet(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result = actorflow::reads_parquet();
  result.message() << "built without Arrow";
  return result;
}

boost::test_tools::assertion_result has_scarce_parquet(boost::unit_test::test_unit_id id) {
  const auto result = can_be_scarce(id);
  return result ? has_parquet(id) : result;
}

const std::vector<std::string> as_parquet{"--format", "parquet"};

// Of the first task, so that what comes between the stages is in files, too.
std::vector<std::string> with_shares(const JobCluster& job) {
  std::filesystem::create_directory(job.file("shares"));
  return {"--shares", job.file("shares"), "--work_folder", job.file("work")};
}

// The task has little memory, and may have a disk of its own.
void start_with_wide_shares(JobCluster& job, std::size_t task,
                            const std::vector<std::string>& environment = {}, int slow_us = 0) {
  std::vector<std::string> flags{"--memory", "48MB", "--spill_folder", job.file("spilled")};
  if (task == 0) {
    const auto shares = with_shares(job);
    flags.insert(flags.end(), shares.begin(), shares.end());
    flags.insert(flags.end(), {"--wide_shares", "1"});
  }
  job.start(task, {.slow_us = slow_us, .flags = flags, .environment = environment});
}

void expect_end_of_bad_disk(JobCluster& job, int error) {
  for (std::size_t task = 0; task < 2; ++task) {
    BOOST_TEST(job[task].wait() == 1, job[task].output());
    BOOST_TEST(says(job[task], std::strerror(error)), job[task].output());
    BOOST_TEST(says(job[task], job.file("spilled") + "/scratch."), job[task].output());
  }
}

std::size_t lines_of_shares(const JobCluster& job) {
  std::size_t lines = 0;
  for (const auto& [name, text] : files_of(job.file("shares")))
    lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return lines;
}

// Of three tasks all but the coordinator have little memory while they write files.
void expect_result_with_scarce_memory(JobCluster& job) {
  const std::vector<std::string> environment{"LD_PRELOAD=" ACTORFLOW_SCARCE_MEMORY,
                                             "SCARCE_MEMORY=/part-"};
  job.start(0, {});
  for (std::size_t task = 1; task < 3; ++task) job.start(task, {.environment = environment});
  BOOST_TEST(job.coordinator().wait() == 0, job.coordinator().output());
  job.expect_result();
}

}  // namespace

BOOST_AUTO_TEST_CASE(others_write_the_files_of_a_process_whose_disk_is_full) {
  JobCluster job(3);
  job.start(0, {.slow_us = 100});
  job.start(1, {.slow_us = 100, .environment = broken_disk(job, rule("open /part-", ENOSPC))});
  job.start(2, {.slow_us = 100});
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(disks_that_fail_now_and_then_change_no_byte) {
  JobCluster job(3);
  // Fewer than a part may fail: one failure on each disk.
  const std::string rules[] = {rule("open /part-", EIO, "2 1"), rule("fsync /part-", EIO, "3 1"),
                               rule("rename /part-", ESTALE, "1 1")};
  for (std::size_t task = 0; task < 3; ++task)
    job.start(task, {.slow_us = 500,
                     .environment = broken_disk(job, rules[task], "rules" + std::to_string(task))});
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_disk_that_is_full_for_all_ends_the_job_and_names_the_file) {
  JobCluster job(2);
  const auto environment = broken_disk(job, rule("open /part-", ENOSPC));
  for (std::size_t task = 0; task < 2; ++task) job.start(task, {.environment = environment});
  for (std::size_t task = 0; task < 2; ++task) {
    BOOST_TEST(job[task].wait() == 1);
    BOOST_TEST(says(job[task], "No space left on device"), job[task].output());
    BOOST_TEST(says(job[task], job.file("out") + "/part-"), job[task].output());
  }
}

// The work folder is on a file system that is really full; then there is room.
BOOST_AUTO_TEST_CASE(a_job_whose_work_folder_was_full_goes_on,
                     *boost::unit_test::precondition(has_memory_disk)) {
  JobCluster job(2);
  std::filesystem::create_directory(job.file("work"));
  actorflow::MemoryDisk disk(job.file("work"));
  const std::vector<std::string> flags{"--work_folder", job.file("work"), "--resume"};
  job.start_all(1000, flags);
  BOOST_TEST(comes_true([&] { return files_of(job.file("work")).size() > 6; }));
  disk.fill();
  for (std::size_t task = 0; task < 2; ++task) BOOST_TEST(job[task].wait() == 1, job[task].output());
  BOOST_TEST(says(job.coordinator(), "No space left on device"), job.coordinator().output());
  disk.make_room();
  job.start_all(0, flags);
  job.expect_success();
  BOOST_TEST(says(job.coordinator(), "of an earlier run"), job.coordinator().output());
}

// A journal that cannot be written costs no more than that parts run again after a loss.
BOOST_AUTO_TEST_CASE(a_journal_that_cannot_be_written_does_not_end_the_job) {
  JobCluster job(2);
  job.start(0, {.slow_us = 500,
                .flags = {"--work_folder", job.file("work")},
                .environment = broken_disk(job, rule("fsync /journal-", EIO, "2"))});
  job.start(1, {.slow_us = 500});
  job.expect_success();
  BOOST_TEST(says(job.coordinator(), "the journal in"), job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(scarce_memory_where_files_are_written_changes_no_byte,
                     *boost::unit_test::precondition(can_be_scarce)) {
  JobCluster job(3);
  expect_result_with_scarce_memory(job);
}

BOOST_AUTO_TEST_CASE(processes_with_other_memory_threads_and_folders_write_the_same) {
  JobCluster job(3);
  job.start(0, {.slow_us = 500, .flags = {"--memory", "200MB", "--tasks", "2"}});
  job.start(1, {.flags = {"--memory", "2GB", "--tasks", "3", "--spill_folder", job.file("spill1")}});
  job.start(2, {.flags = {"--memory", "100MB", "--spill_folder", job.file("spill2")}});
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_process_with_too_little_memory_says_so_and_the_others_go_on) {
  JobCluster job(3);
  job.start(2, {.flags = {"--memory", "100MB"}});
  job.start(0, {.slow_us = 1000, .flags = {"--memory", "1GB"}});
  job.start(1, {.slow_us = 1000, .flags = {"--memory", "1GB"}});
  BOOST_TEST(job[2].wait() == 2);
  BOOST_TEST(says(job[2], "is too little here"), job[2].output());
  job.forget(2);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_work_folder_that_is_a_file_is_named) {
  JobCluster job(1);
  write_file(job.file("no_folder"), "");
  job.start(0, {.flags = {"--work_folder", job.file("no_folder")}});
  BOOST_TEST(job.coordinator().wait() == 2);
  BOOST_TEST(says(job.coordinator(), "the work folder '" + job.file("no_folder") +
                                         "': expected a folder, but it is a file"),
             job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(parquet_files_on_disks_that_fail_now_and_then_have_the_same_bytes,
                     *boost::unit_test::precondition(has_parquet)) {
  JobCluster job(2, as_parquet);
  job.start(0, {.slow_us = 100, .environment = broken_disk(job, rule("fsync /part-", EIO, "2 1"))});
  job.start(
      1, {.slow_us = 100, .environment = broken_disk(job, rule("open /part-", EIO, "1 1"), "rules1")});
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(parquet_files_for_which_there_is_no_room_end_the_job_and_leave_none,
                     *boost::unit_test::precondition(has_parquet)) {
  for (const char* call : {"open /part-", "fsync /part-"}) {
    JobCluster job(2, as_parquet);
    const auto environment = broken_disk(job, rule(call, ENOSPC));
    for (std::size_t task = 0; task < 2; ++task) job.start(task, {.environment = environment});
    for (std::size_t task = 0; task < 2; ++task) {
      BOOST_TEST(job[task].wait() == 1);
      BOOST_TEST(says(job[task], "No space left on device"), job[task].output());
      BOOST_TEST(says(job[task], job.file("out") + "/part-"), job[task].output());
    }
    for (const auto& [name, bytes] : files_of(job.file("out"))) BOOST_TEST(!name.ends_with(".parquet"));
  }
}

BOOST_AUTO_TEST_CASE(scarce_memory_where_parquet_files_are_written_changes_no_byte,
                     *boost::unit_test::precondition(has_scarce_parquet)) {
  JobCluster job(3, as_parquet);
  expect_result_with_scarce_memory(job);
}

BOOST_AUTO_TEST_CASE(shares_of_records_on_disks_that_fail_now_and_then_are_whole) {
  JobCluster job(2);
  job.start(0, {.slow_us = 100,
                .flags = with_shares(job),
                .environment = broken_disk(job, rule("fsync /stage-", EIO, "2 1"))});
  job.start(1, {.slow_us = 100,
                .environment = broken_disk(job, rule("open /stage-", ENOSPC, "1 1"), "rules1")});
  job.expect_success();
  BOOST_TEST(lines_of_shares(job) == 700u);
}

BOOST_AUTO_TEST_CASE(shares_of_records_for_which_no_disk_has_room_end_the_job) {
  JobCluster job(2);
  const auto environment = broken_disk(job, rule("open /stage-", ENOSPC));
  job.start(0, {.flags = with_shares(job), .environment = environment});
  job.start(1, {.environment = environment});
  for (std::size_t task = 0; task < 2; ++task) {
    BOOST_TEST(job[task].wait() == 1);
    BOOST_TEST(says(job[task], "No space left on device"), job[task].output());
    BOOST_TEST(says(job[task], job.file("work") + "/stage-"), job[task].output());
  }
  BOOST_TEST(files_of(job.file("shares")).empty());
}

// Of 70 MB of shares each task gets more than fits into its memory, so it puts some of it aside.
BOOST_AUTO_TEST_CASE(large_shares_on_disks_that_fail_now_and_then_are_whole) {
  JobCluster job(2);
  start_with_wide_shares(job, 0, broken_disk(job, rule("open /scratch.", EIO, "1 1")));
  start_with_wide_shares(job, 1, broken_disk(job, rule("pwrite /scratch.", ENOSPC, "2 1"), "rules1"));
  job.expect_success();
  BOOST_TEST(lines_of_shares(job) == 700u);
  for (const char* why : {"cannot create", "No space left on device"})
    BOOST_TEST(says(job.coordinator(), why), job.coordinator().output());
}

BOOST_AUTO_TEST_CASE(a_large_share_for_which_its_disk_has_no_room_ends_the_job_and_names_the_file) {
  for (const char* call : {"open /scratch.", "pwrite /scratch."}) {
    JobCluster job(2);
    start_with_wide_shares(job, 0);
    start_with_wide_shares(job, 1, broken_disk(job, rule(call, ENOSPC)));
    expect_end_of_bad_disk(job, ENOSPC);
  }
}

// A process that is killed when it has its share gets it again on a disk that is full, or broken.
BOOST_AUTO_TEST_CASE(a_large_share_that_cannot_be_made_again_ends_the_job_and_names_the_file) {
  for (const int error : {ENOSPC, EIO}) {
    JobCluster job(2);
    start_with_wide_shares(job, 0, {}, 3000);
    start_with_wide_shares(job, 1, {}, 3000);
    BOOST_TEST(job[1].prints("counting"));
    job[1].send_signal(SIGKILL);
    BOOST_TEST(job[1].wait() == 128 + SIGKILL);
    start_with_wide_shares(job, 1, broken_disk(job, rule("pwrite /scratch.", error)));
    expect_end_of_bad_disk(job, error);
  }
}

BOOST_AUTO_TEST_SUITE_END()
