// Jobs that write Parquet files on disks that fail or are full, or with scarce memory.
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "schema/parquet/parquet_file.h"
#include "test/apps/support/job_resources.h"

BOOST_AUTO_TEST_SUITE(job_parquet)

using namespace actorflow::test;

namespace {

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

}  // namespace

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
    expect_end_of_bad_disk(job, ENOSPC, "out/part-");
    for (const auto& [name, bytes] : files_of(job.file("out"))) BOOST_TEST(!name.ends_with(".parquet"));
  }
}

BOOST_AUTO_TEST_CASE(scarce_memory_where_parquet_files_are_written_changes_no_byte,
                     *boost::unit_test::precondition(has_scarce_parquet)) {
  JobCluster job(3, as_parquet);
  expect_result_with_scarce_memory(job);
}

BOOST_AUTO_TEST_SUITE_END()
