// Map/reduce jobs on processes whose disks fail or are full, or whose memory is scarce, and whose flags
// differ: the files are those that one process writes, or the error says what was missing.
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "apps/rehearsal/memory_disk.h"
#include "test/apps/support/job_resources.h"

BOOST_AUTO_TEST_SUITE(job_resources)

using namespace actorflow::test;

namespace {

boost::test_tools::assertion_result has_memory_disk(boost::unit_test::test_unit_id) {
  static const std::string why = actorflow::MemoryDisk::why_none();
  boost::test_tools::assertion_result result(why.empty());
  result.message() << why;
  return result;
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
  expect_end_of_bad_disk(job, ENOSPC, "out/part-");
  BOOST_TEST(says(job.coordinator(), "make room there, or give a folder on another disk"),
             job.coordinator().output());
}

// Of what comes between the stages, and does not fit into the memory.
BOOST_AUTO_TEST_CASE(a_disk_that_gives_nothing_back_ends_the_job_and_names_the_file) {
  JobCluster job(2);
  Process gensort({"gensort", "gensort", "--records", "1000000", "--output", job.file("unsorted")});
  BOOST_TEST(gensort.wait() == 0, gensort.output());
  job.use_program("terasort", {"--input", job.file("unsorted"), "--split_bytes", "500000"});
  const std::vector<std::string> flags{"--memory", "48MB", "--spill_folder", job.file("spilled")};
  const auto environment = broken_disk(job, rule("pread /scratch.", EIO));
  for (std::size_t task = 0; task < 2; ++task)
    job.start(task, {.flags = flags, .environment = environment});
  expect_end_of_bad_disk(job, EIO, "spilled/scratch.");
  BOOST_TEST(says(job.coordinator(), "have it looked at, or give a folder on another disk"),
             job.coordinator().output());
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

BOOST_AUTO_TEST_SUITE_END()
