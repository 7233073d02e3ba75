// What a job says of itself while it runs.
#include <boost/test/unit_test.hpp>
#include <map>
#include <ranges>

#include "actors/jobs/program/console_reporter.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/jobs/support/bad_disk.h"
#include "test/jobs/support/test_job.h"

BOOST_AUTO_TEST_SUITE(progress)

using namespace actorflow;

namespace {

class LastReports final : public JobReporter {
 public:
  void report(const StageReport& report) override {
    if (report.is_last) stages[report.stage] = report;
  }
  std::map<std::uint32_t, StageReport> stages;
};

// Sorts more than a part may hold, all of which is on the disk between stages.
std::map<std::uint32_t, StageReport> reports_of_sort(test::BadDisk& disk) {
  LastReports reports;
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = std::size_t{48} << 20;
  options.partitions = 1;
  options.records_on_disk = true;
  options.reporter = &reports;
  const auto runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1, .storage = &disk});
  Job job(options, runtime);
  const auto sorted = job.from(std::vector<std::int64_t>{0, 1, 2, 3}, 4)
                          .flat_map([](std::int64_t quarter) {
                            return std::views::iota(quarter * 300'000, (quarter + 1) * 300'000);
                          })
                          .sort_by([](std::int64_t n) { return -n; })
                          .count();
  BOOST_TEST(sorted == 1'200'000u);
  return reports.stages;
}

const StageReport& sort_of(const std::map<std::uint32_t, StageReport>& stages) {
  BOOST_REQUIRE(!stages.empty());
  return std::prev(stages.end())->second;
}

std::uint64_t shuffled(const std::map<std::uint32_t, StageReport>& stages) {
  std::uint64_t bytes = 0;
  for (const auto& [number, report] : stages) bytes += report.bytes_shuffled;
  return bytes;
}

StageReport half_read() {
  StageReport report;
  report.stage = 1;
  report.parts = 4;
  report.done = 1;
  report.input_bytes = 1000;
  report.bytes_read = 500;
  report.seconds = 10;
  return report;
}

double left(const StageReport& report) {
  const auto seconds = seconds_left(report);
  BOOST_REQUIRE(seconds);
  return *seconds;
}

}  // namespace

BOOST_AUTO_TEST_CASE(bytes_are_counted_once_each) {
  test::BadDisk disk(0, 0);
  const auto stages = reports_of_sort(disk);
  const StageReport& sort = sort_of(stages);
  BOOST_TEST(sort.input_bytes > 8'000'000u);
  BOOST_TEST(sort.bytes_read == sort.input_bytes);
  BOOST_TEST(shuffled(stages) == sort.input_bytes);
  BOOST_TEST(sort.bytes_put_aside > 0u);
  BOOST_TEST(sort.bytes_merged == sort.bytes_put_aside);
}

// Whichever read of the disk fails the attempt.
BOOST_AUTO_TEST_CASE(what_a_failed_attempt_has_done_does_not_count) {
  test::BadDisk good(0, 0);
  const auto expected = reports_of_sort(good);
  std::size_t failed = 0;
  for (const int number : {good.reads() / 3, good.reads() - 2}) {
    test::BadDisk disk(number, 1);
    const auto stages = reports_of_sort(disk);
    const StageReport &sort = sort_of(stages), &undisturbed = sort_of(expected);
    BOOST_TEST(disk.reads() > good.reads());
    BOOST_TEST(sort.bytes_read == undisturbed.bytes_read);
    BOOST_TEST(sort.records_read == undisturbed.records_read);
    BOOST_TEST(sort.bytes_put_aside == undisturbed.bytes_put_aside);
    BOOST_TEST(sort.bytes_merged == undisturbed.bytes_merged);
    failed += sort.failed;
  }
  BOOST_TEST(failed > 0u);
}

// Each round's records go with its collection.
BOOST_AUTO_TEST_CASE(what_nobody_reads_any_more_is_not_kept) {
  LastReports reports;
  JobOptions options = test::small_parts();
  options.reporter = &reports;
  Job job(options);
  for (int round = 0; round < 20; ++round) {
    const auto sorted = job.from(std::vector<std::int64_t>{1, 2, 3, 4}, 4)
                            .flat_map([](std::int64_t n) { return std::views::iota(n, n + 50'000); })
                            .sort_by([](std::int64_t n) { return -n; });
    BOOST_TEST(sorted.count() == 200'000u);
  }
  BOOST_REQUIRE(!reports.stages.empty());
  const std::size_t first = reports.stages.begin()->second.bytes_in_memory,
                    last = std::prev(reports.stages.end())->second.bytes_in_memory;
  BOOST_TEST(last < 4 * first, "first " << first << ", last " << last);
}

BOOST_AUTO_TEST_CASE(time_is_left_for_what_is_to_be_read_and_merged) {
  StageReport report = half_read();
  BOOST_TEST(left(report) == 10);
  report.bytes_put_aside = 500;  // all of it is read again
  BOOST_TEST(left(report) == 30);
  report.bytes_read = 1000;
  report.bytes_put_aside = 1000;
  BOOST_TEST(left(report) == 10);
  report.bytes_merged = 500;
  report.seconds = 30;
  BOOST_TEST(left(report) == 10);
  report.bytes_merged = 1000;
  BOOST_TEST(!seconds_left(report));
}

BOOST_AUTO_TEST_CASE(time_is_left_by_parts_where_bytes_say_nothing) {
  StageReport report = half_read();
  report.input_bytes = 0;
  BOOST_TEST(left(report) == 30);
  report.input_bytes = 400;  // it was compressed
  BOOST_TEST(left(report) == 30);
  report = half_read();
  report.stage = 0;  // a sample passes over most bytes
  BOOST_TEST(left(report) == 30);
  report = half_read();
  report.resumed = report.done = 2;  // by an earlier run, which has read the other half
  report.bytes_read = 250;
  BOOST_TEST(left(report) == 10);
  report.is_last = true;
  BOOST_TEST(!seconds_left(report));
}

BOOST_AUTO_TEST_CASE(lines_have_what_is_shuffled_merged_and_left) {
  StageReport report = half_read();
  report.name = "sort_by";
  report.bytes_shuffled = 3 << 20;
  report.bytes_put_aside = 2 << 20;
  report.bytes_merged = 1 << 20;
  report.bytes_read = report.input_bytes = 2 << 20;
  const std::string line = progress_line(report, false), json = progress_line(report, true);
  for (const char* expected : {"3 MiB shuffled", "1 of 2 MiB merged", "about 3 s left"})
    BOOST_TEST(line.find(expected) != line.npos, line);
  for (const char* expected : {R"("bytes_shuffled": 3145728)", R"("bytes_merged": 1048576)",
                               R"("bytes_put_aside": 2097152)", R"("seconds_left": 3.33)"})
    BOOST_TEST(json.find(expected) != json.npos, json);
  report.is_last = true;
  const std::string last = progress_line(report, true);
  BOOST_TEST(last.find(R"("seconds_left": null)") != last.npos, last);
}

BOOST_AUTO_TEST_CASE(a_little_is_not_nothing) {
  StageReport report = half_read();
  report.seconds = 2;
  report.bytes_read = 200'000;
  const std::string little = progress_line(report, false);
  BOOST_TEST(little.find(", 196 KiB in 2.0 s, 98 KiB/s") != little.npos, little);
  report.bytes_read = 0;
  const std::string nothing = progress_line(report, false);
  BOOST_TEST(nothing.find(", 0 MiB in 2.0 s, 0 MiB/s") != nothing.npos, nothing);
}

BOOST_AUTO_TEST_SUITE_END()
