// Several folders for what does not fit into memory, some of which take no files.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "actors/jobs/job.h"
#include "actors/jobs/slices/scratch_folders.h"
#include "actors/runtime/storage.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(spill_folders)

using namespace actorflow;

namespace {

// Two folders, in the place of which there may be a file.
struct Folders {
  void break_up(const std::string& name) const {
    std::filesystem::remove_all(both.file(name));
    test::write_file(both.file(name), "");
  }
  void mend(const std::string& name) const { std::filesystem::remove_all(both.file(name)); }
  bool is_used(const std::string& name) const { return std::filesystem::is_directory(both.file(name)); }
  std::string list() const { return both.file("a") + "," + both.file("b"); }

  const test::Folder both;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_folder_that_takes_no_file_is_passed_over_until_all_have_refused, Folders) {
  ScratchFolders folders(posix_storage(), list());
  break_up("a");
  for (int i = 0; i < 3; ++i) BOOST_TEST(folders.file()->append({}) == 0u);
  BOOST_TEST(is_used("b"));
  break_up("b");
  BOOST_CHECK_THROW(folders.file(), StorageError);
  mend("a");
  for (int i = 0; i < 3; ++i) folders.file();
  BOOST_TEST(is_used("a"));
}

// Its parts read what was put aside, and put aside what they read: each needs two files.
BOOST_FIXTURE_TEST_CASE(a_job_needs_one_of_them, Folders) {
  break_up("a");
  JobOptions options;
  options.threads = 1;
  options.memory_bytes = std::size_t{48} << 20;
  options.partitions = 2;
  options.records_on_disk = true;
  options.spill_folder = list();
  Job job(options);
  const auto sorted = job.from(std::vector<std::int64_t>{0, 1, 2, 3}, 4)
                          .flat_map([](std::int64_t quarter) {
                            return std::views::iota(quarter * 300'000, (quarter + 1) * 300'000);
                          })
                          .sort_by([](std::int64_t n) { return -n; })
                          .map([](std::int64_t n) { return n / 2; })
                          .sort_by([](std::int64_t n) { return n; })
                          .count();
  BOOST_TEST(sorted == 1'200'000u);
}

BOOST_AUTO_TEST_SUITE_END()
