// Options with which no job can run, and a folder in which none can write.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "test/jobs/support/test_job.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(options)

using namespace actorflow;
using test::small_parts;

namespace {

Status status_with(const JobOptions& options) {
  return test::status_of([&] { Job(options).from(std::vector<int>{1, 2, 3}).count(); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(sizes_with_which_no_job_can_run_are_refused_with_their_bounds) {
  const auto check_refused = [](JobOptions options, const std::string& text) {
    const Status status = status_with(options);
    BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
    BOOST_TEST(status.message.find(text) != std::string::npos, status.message);
  };
  JobOptions options;
  options.split_bytes = 0;
  check_refused(options, "split_bytes: expected at least 1, got 0");
  options = {};
  options.partition_bytes = 0;
  check_refused(options, "partition_bytes: expected at least 1, got 0");
  options = {};
  options.program_timeout_ms = -1;
  check_refused(options, "program_timeout_ms: expected at least 1, got -1");
  options = {};
  options.partitions = std::size_t{1} << 32;
  check_refused(options, "partitions: expected at most 65536, got 4294967296");
  options = {};
  options.threads = 100'000;
  check_refused(options, "threads: expected at most 1024, got 100000");
}

BOOST_AUTO_TEST_CASE(a_work_folder_in_which_nothing_can_be_written_ends_the_job) {
  const test::Folder folder;
  std::ofstream(folder.file("file")) << "no folder";
  JobOptions options = small_parts();
  options.work_folder = folder.file("file/work");
  const Status status = status_with(options);
  BOOST_TEST((status.code == Code::invalid_argument), status.to_string());
  BOOST_TEST(status.message == "the work folder '" + options.work_folder +
                                   "': expected a folder, but '" + folder.file("file") +
                                   "' is a file: give another one, or move the file away");
}

// By which tasks, and runs, find that they have been given others.
BOOST_AUTO_TEST_CASE(values_are_described_by_all_their_bytes) {
  using Texts = std::vector<std::string>;
  BOOST_TEST(describe_values(Texts{"a", "bc"}).starts_with("2 values (hash "));
  BOOST_TEST(describe_values(Texts{"a", "bc"}) == describe_values(Texts{"a", "bc"}));
  BOOST_TEST(describe_values(Texts{"a", "bc"}) != describe_values(Texts{"ab", "c"}));
  BOOST_TEST(describe_values(Texts()) != describe_values(Texts{""}));
  std::vector<std::int64_t> numbers(500'000);  // 4 MB
  const std::string before = describe_values(numbers);
  for (const std::size_t changed : {0, 200'000, 499'999}) {
    numbers[changed] = 1;
    BOOST_TEST(describe_values(numbers) != before, changed);
    numbers[changed] = 0;
  }
}

BOOST_AUTO_TEST_CASE(a_job_that_goes_on_has_the_values_with_which_it_has_begun) {
  const test::Folder folder;
  JobOptions options = small_parts();
  options.work_folder = folder.file("work");
  options.resume = true;
  const auto run = [&](const std::vector<int>& values) {
    return test::status_of([&] { Job(options).from(values).count(); });
  };
  BOOST_TEST(run({1, 2}).ok());
  const Status refused = run({1, 3});
  BOOST_TEST((refused.code == Code::failed_precondition), refused.to_string());
  BOOST_TEST(refused.message.find("where that had '2 values (hash ") != std::string::npos,
             refused.message);
  BOOST_TEST(run({1, 2}).ok());
}

BOOST_AUTO_TEST_CASE(a_counter_whose_name_is_no_text_is_refused) {
  Job job(small_parts());
  BOOST_TEST((test::status_of([&] { job.counter("caf\xe9"); }).code == Code::invalid_argument));
}

BOOST_AUTO_TEST_SUITE_END()
