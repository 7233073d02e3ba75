// A sort and a join on three processes, one of which is killed or has a disk that fails: the files are
// those that one process writes, and valsort finds the records that gensort has made, in order.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <random>
#include <string>

#include "test/apps/support/job_resources.h"

BOOST_AUTO_TEST_SUITE(job_programs)

using namespace actorflow::test;

namespace {

// 300,000 records.
class Sort {
 public:
  Sort() {
    Process gensort({"gensort", "gensort", "--records", "300000", "--output", unsorted_});
    BOOST_TEST(gensort.wait() == 0, gensort.output());
    job.use_program("terasort", {"--input", unsorted_, "--split_bytes", "500000"});
  }

  void expect_success() {
    job.expect_success();
    const std::string sorted = valsort(job.file("out"));
    BOOST_TEST(sorted.find("SUCCESS - all records are in order") != std::string::npos, sorted);
    BOOST_TEST(sorted.find("Records: 300000\n") != std::string::npos, sorted);
    BOOST_TEST(checksum_of(sorted) == checksum_of(valsort(unsorted_)));
  }

  JobCluster job{3};

 private:
  static std::string valsort(const std::string& folder) {
    Process process({"gensort", "valsort", "--input", folder, "--quiet"});
    process.wait();
    return process.output();
  }
  static std::string checksum_of(const std::string& report) {
    const auto begin = report.find("Checksum: ");
    BOOST_TEST_REQUIRE(begin != std::string::npos, report);
    return report.substr(begin, report.find('\n', begin) - begin);
  }

  const std::string unsorted_ = job.file("unsorted");
};

// 600,000 rows with 200,000 keys, and a row for each third key.
void join_tables(JobCluster& job) {
  std::minstd_rand random(1);
  std::ofstream left(job.file("left.csv")), right(job.file("right.csv"));
  for (int row = 0; row < 600'000; ++row) left << "key" << random() % 200'000 << ",left" << row << '\n';
  for (int row = 0; row < 60'000; ++row) right << "key" << 3 * row << ",right" << row << '\n';
  job.use_program("join", {"--left", job.file("left.csv"), "--right", job.file("right.csv"), "--kind",
                           "outer", "--split_bytes", "200000"});
}

std::size_t bytes_read(const Process& process) {
  std::ifstream io("/proc/" + std::to_string(process.id()) + "/io");
  std::string name;
  std::size_t bytes = 0;
  io >> name >> bytes;  // "rchar: 123"
  return bytes;
}

// The first process begins when the others are there: so each of them gets parts.
void start(JobCluster& job, const std::vector<std::string>& environment_of_last = {}) {
  job.start(1, {});
  job.start(2, {.environment = environment_of_last});
  for (std::size_t task = 1; task < 3; ++task)
    BOOST_TEST(job[task].prints("waiting for"), job[task].output());
  job.start(0, {});
}

// When the last process has read so many bytes, some parts are done there.
void kill_one_after(JobCluster& job, std::size_t bytes) {
  start(job);
  const std::size_t before = bytes_read(job[2]);
  BOOST_TEST(comes_true([&] { return bytes_read(job[2]) >= before + bytes; }), job[2].output());
  job[2].send_signal(SIGKILL);
  job.forget(2);
  BOOST_TEST(job.coordinator().prints("run again elsewhere"), job.coordinator().output());
}

// On the disk of the last process a call for files of the result fails.
void break_a_disk(JobCluster& job, const std::string& call, int error, const std::string& times = "") {
  start(job, broken_disk(job, rule(call + " " + job.file("out") + "/part-", error, times)));
  BOOST_TEST(job.coordinator().prints("it runs again"), job.coordinator().output());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_sort_survives_a_process_that_is_killed) {
  Sort sort;
  kill_one_after(sort.job, 4'000'000);
  sort.expect_success();
}

BOOST_AUTO_TEST_CASE(a_sort_survives_a_disk_that_is_full) {
  Sort sort;
  break_a_disk(sort.job, "open", ENOSPC);
  sort.expect_success();
  BOOST_TEST(says(sort.job.coordinator(), "No space left on device"));
}

BOOST_AUTO_TEST_CASE(a_join_survives_a_process_that_is_killed) {
  JobCluster job(3);
  join_tables(job);
  kill_one_after(job, 1'000'000);
  job.expect_success();
}

BOOST_AUTO_TEST_CASE(a_join_survives_a_disk_that_fails) {
  JobCluster job(3);
  join_tables(job);
  break_a_disk(job, "fsync", EIO, "1 1");
  job.expect_success();
  BOOST_TEST(says(job.coordinator(), "Input/output error"));
}

BOOST_AUTO_TEST_SUITE_END()
