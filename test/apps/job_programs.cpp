// A sort and a join on three processes, one of which is killed or has a disk that fails: the files are
// those that one process writes, and valsort finds the records that gensort has made, in order.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <system_error>

#include "test/apps/support/job_resources.h"

BOOST_AUTO_TEST_SUITE(job_programs)

using namespace actorflow::test;

namespace {

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

// A million rows with 200,000 keys, and a row for each third key.
void join_tables(JobCluster& job, const std::string& kind = "outer") {
  std::minstd_rand random(1);
  std::ofstream left(job.file("left.csv")), right(job.file("right.csv"));
  for (int row = 0; row < 1'000'000; ++row)
    left << "key" << random() % 200'000 << ",left" << row << '\n';
  for (int row = 0; row < 60'000; ++row) right << "key" << 3 * row << ",right" << row << '\n';
  job.use_program("join", {"--left", job.file("left.csv"), "--right", job.file("right.csv"), "--kind",
                           kind, "--split_bytes", "300000"});
}

// Whether the process has read more than itself (which tells it from other builds) and so many bytes.
bool has_read(const Process& process, std::size_t bytes) {
  const std::string folder = "/proc/" + std::to_string(process.id());
  std::ifstream io(folder + "/io");
  std::string name;
  std::size_t read = 0;
  io >> name >> read;  // "rchar: 123"
  std::error_code ended;
  const auto own = std::filesystem::file_size(folder + "/exe", ended);
  return !ended && read >= own + bytes;
}

// All processes read their input slowly, so that the job lasts while others join it and the test looks.
void start(JobCluster& job, const std::string& rules_of_last = "") {
  const std::string slowly = rule("open /unsorted", 0) + rule("open .csv", 0);
  for (std::size_t task = 0; task < 3; ++task)
    job.start(task, {.environment = broken_disk(job, slowly + (task == 2 ? rules_of_last : ""),
                                                "rules" + std::to_string(task))});
}

// When the last process has read so many bytes, parts run there or have run.
void kill_one_after(JobCluster& job, std::size_t bytes) {
  start(job);
  BOOST_TEST(comes_true([&] { return has_read(job[2], bytes); }), job[2].output());
  job[2].send_signal(SIGKILL);
  job.forget(2);
  BOOST_TEST(job.coordinator().prints("run again elsewhere"), job.coordinator().output());
}

// On the disk of the last process a call for files of the result fails.
void break_a_disk(JobCluster& job, const std::string& call, int error, const std::string& times = "") {
  start(job, rule(call + " " + job.file("out") + "/part-", error, times));
  BOOST_TEST(job.coordinator().prints("it runs again"), job.coordinator().output());
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_sort_survives_a_process_that_is_killed) {
  Sort sort;
  kill_one_after(sort.job, 1'000'000);
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

// In little memory: what the parts hand over goes to disk.
BOOST_AUTO_TEST_CASE(matches_of_two_tables_survive_a_process_that_is_killed) {
  for (const char* kind : {"semi", "anti"}) {
    JobCluster job(3, {"--memory", "64MB"});
    join_tables(job, kind);
    kill_one_after(job, 1'000'000);
    job.expect_success();
    // Of the 200,000 keys the right has 60,000.
    std::size_t rows = 0;
    for (const auto& [name, text] : files_of(job.file("out")))
      if (name != "_SUCCESS") rows += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    const double share = static_cast<double>(rows) / 1'000'000;
    BOOST_TEST(
        (kind == std::string("semi") ? share > 0.29 && share < 0.31 : share > 0.69 && share < 0.71),
        kind << ": " << rows);
  }
}

// A million numbers of 150 keys, and a folder for each key.
BOOST_AUTO_TEST_CASE(an_output_divided_by_a_column_survives_a_process_that_is_killed) {
  JobCluster job(3);
  std::minstd_rand random(1);
  std::ofstream numbers(job.file("numbers.csv"));
  for (int row = 0; row < 1'000'000; ++row)
    numbers << "key" << random() % 150 << ',' << random() % 10'000 << '\n';
  numbers.close();
  job.use_program("ranked", {"--input", job.file("numbers.csv"), "--k", "1000000", "--divide_by", "key",
                             "--split_bytes", "300000"});
  job.expect_files(151);
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
