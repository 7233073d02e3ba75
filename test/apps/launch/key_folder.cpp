#include "apps/launch/keeper/key_folder.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "test/apps/launch/support/launched.h"
#include "test/support/folder.h"
#include "test/support/no_descriptors.h"

BOOST_AUTO_TEST_SUITE(key_folder)

using namespace actorflow;
using namespace actorflow::test;

namespace {

unsigned mode_of(const std::string& path) {
  struct stat info {};
  BOOST_TEST(stat(path.c_str(), &info) == 0, path);
  return info.st_mode & 07777;
}

// Where a process that was killed has left its folder.
std::string folder_of_a_killed_process() {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(pipe(ends.data()) == 0);
  const pid_t child = fork();
  if (child == 0) {
    KeyFolder folder;
    folder.add("a.key", "secret");
    [[maybe_unused]] const auto size = write(ends[1], folder.path().data(), folder.path().size());
    _exit(0);
  }
  close(ends[1]);
  std::string path(256, '\0');
  const auto size = read(ends[0], path.data(), path.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  path.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return path;
}

// What comes of a folder when this process can open nothing more.
std::string words_without_descriptors() {
  const NoDescriptors any_more;
  try {
    const KeyFolder folder;
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_CASE(its_owner_alone_reads_it_and_it_goes_with_the_object) {
  std::string path;
  {
    const KeyFolder folder, other;
    path = folder.path();
    BOOST_TEST(path != other.path());
    folder.add("a.key", "secret");
    BOOST_TEST(mode_of(path) == 0700u);
    BOOST_TEST(mode_of(path + "/a.key") == 0600u);
    BOOST_TEST(read_file(path + "/a.key") == "secret");
  }
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(what_a_killed_process_has_left_is_cleared_away_by_the_next_one) {
  const KeyFolder running;
  const std::string path = folder_of_a_killed_process();
  BOOST_TEST(!path.empty());
  const KeyFolder next;
  BOOST_TEST(!std::filesystem::exists(path));
  BOOST_TEST(std::filesystem::exists(running.path()));
}

BOOST_AUTO_TEST_CASE(a_job_without_credentials_clears_them_away_too) {
  const KeyFolder running;
  const std::string path = folder_of_a_killed_process();
  BOOST_TEST(!path.empty());
  Process job(launch_command({"-np", "1", "true"}));
  BOOST_TEST(job.wait() == 0);
  BOOST_TEST(!std::filesystem::exists(path));
  BOOST_TEST(std::filesystem::exists(running.path()));
}

BOOST_AUTO_TEST_CASE(nothing_is_made_without_a_turn) {
  expect(words_without_descriptors(), "for credentials cannot be locked: Too many open files");
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written_is_named) {
  const KeyFolder folder;
  BOOST_CHECK_EXCEPTION(folder.add("nowhere/a.key", "secret"), std::exception, [](const auto& error) {
    return std::string(error.what()).find("/nowhere/a.key.part' cannot be written: No such file") !=
           std::string::npos;
  });
}

BOOST_AUTO_TEST_SUITE_END()
