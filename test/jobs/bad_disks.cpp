// Disks that give back something else than they got, where a job puts records aside.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <functional>
#include <memory>
#include <numeric>
#include <ranges>

#include "actors/runtime/file_storage.h"
#include "actors/runtime/threaded_runtime.h"
#include "test/actors/support/real_calls.h"
#include "test/jobs/support/bad_disk.h"
#include "test/jobs/support/test_job.h"
#include "test/support/log_lines.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(bad_disks)

using namespace actorflow;

namespace {

// A shuffle whose chunks, and one of whose partitions, go to disk; of one thread, so that the disk is
// read in one order.
std::int64_t sum_of_keys(test::BadDisk& disk) {
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = std::size_t{48} << 20;
  options.partitions = 1;
  options.records_on_disk = true;
  const auto runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1, .storage = &disk});
  Job job(options, runtime);
  return job.from(std::vector<std::int64_t>{0, 1, 2, 3}, 4)
      .flat_map([](std::int64_t quarter) {
        return std::views::iota(quarter * 150'000, (quarter + 1) * 150'000) |
               std::views::transform([](std::int64_t n) {
                 return std::pair{n, n};
               });
      })
      .sort_by([](const auto& pair) { return -pair.first; })
      .reduce_by_key(std::plus<>())
      .fold(
          std::int64_t{0}, [](std::int64_t sum, const auto& pair) { return sum + pair.second; },
          std::plus<>());
}

// The first time that a job's mark is to be written, the disk refuses.
class RefusesTheMark final : public test::RealCalls {
 public:
  int open(const std::string& path, OpenMode mode) override {
    const bool is_mark = path.find("/_SUCCESS") != path.npos;
    return is_mark && !has_refused.exchange(true) ? -EIO : RealCalls::open(path, mode);
  }
  std::atomic<bool> has_refused{false};
};

// Has no room for the first four files of a result.
class FullAtFirst final : public test::RealCalls {
 public:
  int open(const std::string& path, OpenMode mode) override {
    const bool is_part = path.find("/part-") != path.npos;
    return is_part && refused++ < 4 ? -ENOSPC : RealCalls::open(path, mode);
  }
  std::atomic<int> refused{0};
};

constexpr std::int64_t expected = std::int64_t{600'000} * 599'999 / 2;

}  // namespace

// A read of a chunk, or of a run, from all over the job.
BOOST_AUTO_TEST_CASE(what_has_changed_on_disk_is_made_again) {
  test::BadDisk good(0, 0);
  BOOST_TEST(sum_of_keys(good) == expected);
  BOOST_TEST(good.reads() > 30);
  for (int number = 0; number < good.reads(); number += 3) {
    test::BadDisk disk(number, 1);
    BOOST_TEST(sum_of_keys(disk) == expected, "read " << number);
    BOOST_TEST(disk.reads() > good.reads(), "read " << number);
  }
}

BOOST_AUTO_TEST_CASE(a_disk_on_which_all_changes_ends_the_job_and_is_named) {
  test::BadDisk disk(2, 1'000'000);
  const Status status = test::status_of([&] { sum_of_keys(disk); });
  BOOST_TEST(!status.ok());
  BOOST_TEST(status.message.find("what was put aside on disk has changed there") != status.message.npos,
             status.message);
}

BOOST_AUTO_TEST_CASE(a_result_is_marked_as_whole_when_its_disk_takes_the_mark) {
  const test::Folder folder;
  RefusesTheMark calls;
  FileStorage disk(calls);
  const auto runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1, .storage = &disk});
  Job(test::small_parts(1), runtime).from(std::vector<int>{1, 2}).write_csv(folder.file("out"));
  BOOST_TEST(calls.has_refused.load());
  BOOST_TEST(test::files_of(folder.file("out")).contains("_SUCCESS"));
}

// One part for all that wait as long for the disk.
BOOST_AUTO_TEST_CASE(a_full_disk_is_told_once_for_all_parts_that_it_refuses) {
  const test::Folder folder;
  FullAtFirst calls;
  FileStorage disk(calls);
  const auto runtime =
      std::make_shared<ThreadedRuntime>(RuntimeOptions{.num_threads = 1, .storage = &disk});
  test::LogLines log;
  Job(test::small_parts(1), runtime).from(std::vector{1, 2, 3, 4}, 4).write_csv(folder.file("out"));
  const std::string told = log.all();
  const auto first = told.find("No space left on device; it runs again in 1 s, as other parts");
  BOOST_TEST_REQUIRE(first != told.npos, told);
  BOOST_TEST(told.find("runs again", first + 60) == told.npos, told);
  BOOST_TEST(test::files_of(folder.file("out")).contains("_SUCCESS"));
}

BOOST_AUTO_TEST_SUITE_END()
