// Shares of a job's records, which tasks keep for what comes after the job, on disks that fail or are
// full.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "test/apps/support/job_resources.h"

BOOST_AUTO_TEST_SUITE(job_shares)

using namespace actorflow::test;

namespace {

// Of the first task, so that what comes between the stages is in files, too.
std::vector<std::string> with_shares(const JobCluster& job) {
  std::filesystem::create_directory(job.file("shares"));
  return {"--shares", job.file("shares"), "--work_folder", job.file("work")};
}

// The task has little memory, and may have a disk of its own.
void start_with_wide_shares(JobCluster& job, std::size_t task,
                            const std::vector<std::string>& environment = {}, int slow_us = 0,
                            const std::string& folders = {}) {
  std::vector<std::string> flags{"--memory", "48MB", "--spill_folder",
                                 folders.empty() ? job.file("spilled") : folders};
  if (task == 0) {
    const auto shares = with_shares(job);
    flags.insert(flags.end(), shares.begin(), shares.end());
    flags.insert(flags.end(), {"--wide_shares", "1"});
  }
  job.start(task, {.slow_us = slow_us, .flags = flags, .environment = environment});
}

// Kills the task's process; the next one catches up, by its own disk.
void begin_again_when_it_has_its_share(JobCluster& job, std::size_t task,
                                       const std::vector<std::string>& environment) {
  BOOST_TEST(job[task].prints("counting"));
  job[task].send_signal(SIGKILL);
  BOOST_TEST(job[task].wait() == 128 + SIGKILL);
  start_with_wide_shares(job, task, environment);
}

std::size_t lines_of_shares(const JobCluster& job) {
  std::size_t lines = 0;
  for (const auto& [name, text] : files_of(job.file("shares")))
    lines += static_cast<std::size_t>(std::ranges::count(text, '\n'));
  return lines;
}

}  // namespace

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
  expect_end_of_bad_disk(job, ENOSPC, "work/stage-");
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

// It fails until the job has said that it waits for the disk, which is longer than some tries take.
BOOST_AUTO_TEST_CASE(a_large_share_on_a_disk_that_fails_for_a_while_is_whole) {
  for (const int error : {EIO, ENOSPC}) {
    JobCluster job(2);
    start_with_wide_shares(job, 0);
    start_with_wide_shares(job, 1, broken_disk(job, rule("pwrite /scratch.", error)));
    BOOST_TEST(job.coordinator().prints("; it runs again in 1 s"), job.coordinator().output());
    broken_disk(job, "");
    job.expect_success();
    BOOST_TEST(lines_of_shares(job) == 700u);
  }
}

BOOST_AUTO_TEST_CASE(a_large_share_for_which_its_disk_has_no_room_ends_the_job_and_names_the_file) {
  for (const char* call : {"open /scratch.", "pwrite /scratch."}) {
    JobCluster job(2);
    start_with_wide_shares(job, 0);
    start_with_wide_shares(job, 1, broken_disk(job, rule(call, ENOSPC)));
    expect_end_of_bad_disk(job, ENOSPC, "spilled/scratch.");
  }
}

// Of two disks.
BOOST_AUTO_TEST_CASE(a_large_share_goes_to_the_disk_that_has_room) {
  for (const char* call : {"open /full/", "pwrite /full/"}) {
    JobCluster job(2);
    const std::string folders = job.file("full") + "," + job.file("empty");
    start_with_wide_shares(job, 0);
    start_with_wide_shares(job, 1, broken_disk(job, rule(call, ENOSPC)), 0, folders);
    job.expect_success();
    BOOST_TEST(lines_of_shares(job) == 700u);
    BOOST_TEST(says(job[1], "nothing more is put aside in '" + job.file("full")), job[1].output());
  }
}

// By a task that is back, while the job goes on.
BOOST_AUTO_TEST_CASE(a_large_share_is_made_again_on_a_disk_that_fails_for_a_while) {
  for (const int error : {EIO, ENOSPC}) {
    JobCluster job(2);
    for (std::size_t task = 0; task < 2; ++task) start_with_wide_shares(job, task, {}, 3000);
    begin_again_when_it_has_its_share(job, 1, broken_disk(job, rule("pwrite /scratch.", error)));
    BOOST_TEST(job.coordinator().prints("; it runs again in 1 s"), job.coordinator().output());
    broken_disk(job, "");
    job.expect_success();
    BOOST_TEST(lines_of_shares(job) == 700u);
  }
}

// What the job does meanwhile takes longer than all tries of the task that is back.
BOOST_AUTO_TEST_CASE(a_large_share_that_cannot_be_made_again_ends_the_job_and_names_the_file) {
  JobCluster job(2);
  for (std::size_t task = 0; task < 2; ++task) start_with_wide_shares(job, task, {}, 20'000);
  begin_again_when_it_has_its_share(job, 1, broken_disk(job, rule("pwrite /scratch.", EIO)));
  expect_end_of_bad_disk(job, EIO, "spilled/scratch.");
  BOOST_TEST(says(job.coordinator(), "the disk has refused 4 times"), job.coordinator().output());
}

BOOST_AUTO_TEST_SUITE_END()
