#include "actors/runtime/storage.h"

#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/start_number.h"
#include "actors/runtime/file_storage.h"
#include "dataflow/values/error.h"
#include "test/actors/support/real_calls.h"
#include "test/support/folder.h"

using namespace actorflow;

namespace {

struct Disk {
  std::string path(const std::string& file) const { return folder.file(file); }

  test::Folder folder;
  Storage& disk = posix_storage();
};

// Knows which folders have been synced, and lets something happen when one has been made.
class WatchedCalls final : public test::RealCalls {
 public:
  int open(const std::string& path, OpenMode mode) override {
    const int file = RealCalls::open(path, mode);
    if (mode == OpenMode::folder) folders_[file] = path;
    return file;
  }
  int close(int file) override {
    folders_.erase(file);
    return RealCalls::close(file);
  }
  int sync(int file) override {
    const auto found = folders_.find(file);
    if (found == folders_.end()) return RealCalls::sync(file);
    synced.insert(found->second);
    return can_sync_folders ? RealCalls::sync(file) : -EINVAL;
  }
  int may_change(const std::string& path) override { return foreign == path ? -EACCES : 0; }
  int make_folder(const std::string& path) override {
    const int result = RealCalls::make_folder(path);
    if (made) std::exchange(made, {})();
    return result;
  }

  int list(const std::string& path, std::vector<std::string>& names) override {
    return list_error != 0 ? -list_error : RealCalls::list(path, names);
  }

  std::function<void()> made;
  int list_error = 0;  // of each look into a folder
  std::set<std::string> synced;
  std::string foreign;  // a folder that belongs to somebody else
  bool can_sync_folders = true;

 private:
  std::map<int, std::string> folders_;  // that are open
};

// As a network file system whose quota is used up.
class LateCalls final : public test::RealCalls {
 public:
  int close(int file) override {
    RealCalls::close(file);
    return -EDQUOT;
  }
};

// The next writes fail with this error.
class FailingWrites final : public test::RealCalls {
 public:
  FailingWrites(int error, int failures) : error_(error), failures_(failures) {}

  std::int64_t write(int file, std::span<const std::byte> bytes) override {
    return failures_-- > 0 ? -error_ : RealCalls::write(file, bytes);
  }

 private:
  const int error_;
  int failures_;
};

// A start on a disk whose next writes fail: its number, and the pauses that it has made.
struct Start {
  Start(const std::string& folder, int error, int failures) {
    FailingWrites calls(error, failures);
    FileStorage storage(calls);
    number = take_start_number(storage, folder, {"worker", 0}, system_random(),
                               [this](std::chrono::seconds pause) { paused += pause; });
  }

  std::uint32_t number = 0;
  std::chrono::seconds paused{0};
};

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(Storage& storage, const std::string& path) {
  const auto bytes = storage.read(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(storage, Disk)

BOOST_AUTO_TEST_CASE(a_new_file_appears_when_it_is_committed) {
  const auto file = disk.create(path("a/b/file"));
  file->write(bytes_of("one "));
  file->write(bytes_of("two"));
  BOOST_TEST(!disk.exists(path("a/b/file")));
  file->commit();
  BOOST_TEST(text_of(disk, path("a/b/file")) == "one two");
  BOOST_TEST(disk.list(path("a/b")).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_new_file_that_is_not_committed_leaves_the_old_one) {
  disk.write_atomically(path("file"), bytes_of("old"));
  disk.create(path("file"))->write(bytes_of("new"));
  BOOST_TEST(text_of(disk, path("file")) == "old");
  BOOST_TEST(disk.list(folder.path()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_open_file_stays_readable_when_it_is_removed) {
  disk.write_atomically(path("file"), bytes_of("0123456789"));
  const auto file = disk.open(path("file"));
  disk.remove(path("file"));
  std::string middle(4, ' ');
  file->read(3, std::as_writable_bytes(std::span(middle)));
  BOOST_TEST(middle == "3456");
  BOOST_TEST(file->size_bytes() == 10u);
}

BOOST_AUTO_TEST_CASE(reading_past_the_end_names_the_file_and_its_end) {
  disk.write_atomically(path("file"), bytes_of("0123456789"));
  std::string text(4, ' ');
  BOOST_CHECK_EXCEPTION(disk.open(path("file"))->read(8, std::as_writable_bytes(std::span(text))), Error,
                        [&](const Error& error) {
                          const std::string_view what = error.what();
                          return error.code() == Code::data_loss &&
                                 what.find(path("file")) != what.npos &&
                                 what.find("ends at 10") != what.npos;
                        });
}

BOOST_AUTO_TEST_CASE(appended_bytes_follow_one_another) {
  for (const auto* text : {"a", "bc", "", "d"}) disk.append(path("new/log"), bytes_of(text));
  BOOST_TEST(text_of(disk, path("new/log")) == "abcd");
}

BOOST_AUTO_TEST_CASE(what_is_lost_when_a_file_is_closed_was_not_appended) {
  LateCalls calls;
  FileStorage late(calls);
  BOOST_CHECK_EXCEPTION(late.append(path("log"), bytes_of("x")), Error, [&](const Error& error) {
    return error.code() == Code::resource_exhausted &&
           std::string(error.what()).find("cannot close '" + path("log")) != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_not_found_by_its_name) {
  BOOST_CHECK_EXCEPTION(disk.read(path("none")), Error, [&](const Error& error) {
    return error.code() == Code::not_found &&
           std::string(error.what()).find(folder.path()) != std::string::npos;
  });
  disk.remove(path("none"));
  BOOST_TEST(disk.list(path("none")).empty());
}

BOOST_AUTO_TEST_CASE(a_link_to_nothing_is_no_file_and_one_that_cannot_be_followed_is_an_error) {
  disk.write_atomically(path("file"), bytes_of("x"));
  std::filesystem::create_symlink("file", path("link"));
  std::filesystem::create_symlink("gone", path("to_nothing"));
  auto names = disk.list(folder.path());
  std::ranges::sort(names);
  BOOST_TEST(names == (std::vector<std::string>{"file", "link"}), boost::test_tools::per_element());
  std::filesystem::create_symlink("loop", path("loop"));
  BOOST_CHECK_EXCEPTION(disk.list(folder.path()), Error, [&](const Error& error) {
    return error.code() == Code::disk_error &&
           std::string(error.what()).find(folder.path()) != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_file_in_a_folder_that_another_task_is_making_waits_for_its_sync) {
  WatchedCalls calls;
  FileStorage storage(calls);
  bool synced = false;
  calls.made = [&] {
    storage.write_atomically(path("new/second"), bytes_of("2"));
    synced = calls.synced.contains(folder.path());
  };
  storage.write_atomically(path("new/first"), bytes_of("1"));
  BOOST_TEST(synced);
}

// Its maker may have been killed before; but nobody like this process can have made one in a folder that
// it may not change.
BOOST_AUTO_TEST_CASE(the_name_of_a_folder_that_is_there_is_synced_once_where_it_may_be) {
  std::filesystem::create_directory(path("there"));
  for (const bool foreign : {false, true}) {
    WatchedCalls calls;
    if (foreign) calls.foreign = folder.path();
    FileStorage storage(calls);
    storage.write_atomically(path("there/file"), bytes_of("1"));
    BOOST_TEST(calls.synced.contains(folder.path()) == !foreign);
    calls.synced.clear();
    storage.write_atomically(path("there/file"), bytes_of("2"));
    BOOST_TEST(calls.synced == std::set{path("there")}, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_file_system_without_a_sync_of_folders_holds_files) {
  WatchedCalls calls;
  calls.can_sync_folders = false;
  FileStorage storage(calls);
  storage.write_atomically(path("new/file"), bytes_of("1"));
  BOOST_TEST(text_of(storage, path("new/file")) == "1");
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_named) {
  BOOST_CHECK_EXCEPTION(disk.create("/dev/null/folder/file"), Error, [](const Error& error) {
    return std::string(error.what()).find("/dev/null/folder") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_device_or_pipe_is_not_replaced_by_a_file) {
  BOOST_TEST_REQUIRE(mkfifo(path("pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/null", path("device"));
  for (const std::string name : {"pipe", "device"})
    BOOST_CHECK_EXCEPTION(
        disk.write_atomically(path(name), bytes_of("x")), Error, [&](const Error& error) {
          return error.what() ==
                 "'" + path(name) + "' is a device, a pipe or a link to one; name a file";
        });
  BOOST_TEST(std::filesystem::is_fifo(path("pipe")));
  BOOST_TEST(std::filesystem::is_symlink(path("device")));
  BOOST_TEST(disk.list(folder.path()).size() == 0U);
}

BOOST_AUTO_TEST_CASE(a_file_in_the_place_of_a_folder_is_an_error_of_the_disk_that_names_it) {
  disk.write_atomically(path("file"), bytes_of("x"));
  for (const auto* below : {"file/a", "file/a/b"})
    BOOST_CHECK_EXCEPTION(disk.create(path(below)), Error, [&](const Error& error) {
      return error.code() == Code::disk_error &&
             std::string(error.what()).find(path("file")) != std::string::npos;
    });
  BOOST_CHECK_EXCEPTION(expect_checkpoint_folder(disk, path("file/a")), Error, [&](const Error& error) {
    return error.code() == Code::failed_precondition &&
           std::string(error.what()).find("'" + path("file") + "' is a file") != std::string::npos;
  });
  expect_checkpoint_folder(disk, path("new/folder"));
  BOOST_TEST(disk.list(path("new/folder")).empty());
}

// Unlike an error that may pass, which is tried again for a while.
BOOST_AUTO_TEST_CASE(what_no_further_try_can_change_is_no_error_of_the_disk) {
  disk.write_atomically(path("file"), bytes_of("x"));
  for (const auto* below : {"file", "file/a"})
    BOOST_CHECK_EXCEPTION(disk.list(path(below)), Error, [&](const Error& error) {
      return error.code() == Code::not_found &&
             error.what() == "'" + path("file") + "' is a file, not a folder";
    });
  for (const std::string below : {"/dev/null", "/dev/null/a"}) {
    BOOST_CHECK_EXCEPTION(disk.list(below), Error,
                          [](const Error& error) { return error.code() == Code::invalid_argument; });
    BOOST_CHECK_EXCEPTION(expect_checkpoint_folder(disk, below), Error, [](const Error& error) {
      return error.code() == Code::failed_precondition &&
             std::string(error.what()).find("'/dev/null' is neither a file nor a folder") !=
                 std::string::npos;
    });
  }
  BOOST_CHECK_EXCEPTION(disk.create(path(std::string(300, 'a') + "/b")), Error,
                        [](const Error& error) { return error.code() == Code::invalid_argument; });
}

// The folder is there.
BOOST_AUTO_TEST_CASE(a_disk_that_denies_a_folder_has_an_error_that_may_pass) {
  WatchedCalls calls;
  calls.list_error = ENOTDIR;
  FileStorage storage(calls);
  BOOST_CHECK_EXCEPTION(storage.list(folder.path()), Error,
                        [](const Error& error) { return error.code() == Code::disk_error; });
}

BOOST_AUTO_TEST_CASE(a_start_outlasts_an_error_of_the_disk_that_passes) {
  const Start start(folder.path(), EIO, 4);
  BOOST_TEST(start.number == 1u);
  BOOST_TEST(start.paused.count() == 15);
  BOOST_CHECK_EXCEPTION(Start(folder.path(), EIO, 5), Error,
                        [](const Error& error) { return error.code() == Code::disk_error; });
}

BOOST_AUTO_TEST_CASE(a_start_on_a_full_disk_has_no_number) {
  const Start start(folder.path(), ENOSPC, 1);
  BOOST_TEST(start.number == 0u);
  BOOST_TEST(start.paused.count() == 0);
  BOOST_TEST(Start(folder.path(), 0, 0).number == 1u);
}

BOOST_AUTO_TEST_CASE(each_start_of_a_task_has_the_next_number) {
  BOOST_TEST(take_start_number(disk, folder.path(), {"worker", 0}) == 1u);
  BOOST_TEST(take_start_number(disk, folder.path(), {"worker", 0}) == 2u);
  BOOST_TEST(take_start_number(disk, folder.path(), {"worker", 1}) == 1u);
}

BOOST_AUTO_TEST_CASE(processes_of_a_task_that_start_together_have_different_numbers) {
  constexpr std::uint32_t processes = 8, starts = 20;
  std::vector<std::vector<std::uint32_t>> numbers(processes);
  std::vector<std::thread> threads;
  for (auto& own : numbers)
    threads.emplace_back([&] {
      for (std::uint32_t i = 0; i < starts; ++i)
        own.push_back(take_start_number(disk, folder.path(), {"worker", 0}));
    });
  for (auto& thread : threads) thread.join();
  std::set<std::uint32_t> all;
  for (const auto& own : numbers) {
    BOOST_TEST(std::ranges::is_sorted(own));
    all.insert(own.begin(), own.end());
  }
  BOOST_TEST(all.size() == processes * starts);
  BOOST_TEST(*all.rbegin() == processes * starts);
}

BOOST_AUTO_TEST_CASE(starts_go_on_from_what_an_earlier_version_or_a_crash_has_left) {
  disk.write_atomically(path("starts/ps-0"), bytes_of("7\n"));
  BOOST_TEST(take_start_number(disk, folder.path(), {"ps", 0}) == 8u);
  disk.append(path("starts/ps-0"), bytes_of("\nstart 12"));
  BOOST_TEST(take_start_number(disk, folder.path(), {"ps", 0}) == 10u);
}

BOOST_AUTO_TEST_SUITE_END()
