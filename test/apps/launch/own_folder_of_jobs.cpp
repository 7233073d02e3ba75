// The folder of a user's running jobs, in a parent where others may have been first.
#include "apps/launch/own_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "dataflow/values/error.h"
#include "schema/file_descriptor.h"
#include "test/support/folder.h"
#include "test/support/says.h"

namespace actorflow::test {
namespace {

struct Parent : Folder {
  const std::string plain = file("actorflow-" + std::to_string(geteuid()));
};

unsigned mode_of(const std::string& path) {
  struct stat info {};
  BOOST_TEST(lstat(path.c_str(), &info) == 0, path);
  return info.st_mode & 07777;
}

// Not the plain name, and the user's own; the next session finds the same.
void expect_another(const Parent& parent) {
  const std::string folder = own_folder(parent.path());
  BOOST_TEST(folder.starts_with(parent.plain + "-"), folder);
  BOOST_TEST(mode_of(folder) == 0700u);
  BOOST_TEST(own_folder(parent.path()) == folder);
}

boost::test_tools::assertion_result is_root(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(geteuid() == 0);
  result.message() << "only root can make a folder of another user";
  return result;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(own_folder_of_jobs, Parent)

BOOST_AUTO_TEST_CASE(a_users_sessions_have_the_same_folder) {
  BOOST_TEST(own_folder(path()) == plain);
  BOOST_TEST(mode_of(plain) == 0700u);
  BOOST_TEST(own_folder(path()) == plain);
}

BOOST_AUTO_TEST_CASE(a_folder_that_others_can_enter_is_not_taken) {
  std::filesystem::create_directory(plain);
  BOOST_REQUIRE(chmod(plain.c_str(), 0755) == 0);
  expect_another(*this);
}

BOOST_AUTO_TEST_CASE(a_folder_of_another_user_is_not_taken, *boost::unit_test::precondition(is_root)) {
  BOOST_REQUIRE(mkdir(plain.c_str(), 0700) == 0);
  BOOST_REQUIRE(chown(plain.c_str(), 12345, 12345) == 0);
  expect_another(*this);
}

BOOST_AUTO_TEST_CASE(first_calls_at_once_get_the_same_folder) {
  for (int i = 0; i < 20; ++i) {
    const Parent parent;
    write_file(parent.plain, "");
    std::latch begin(4);
    std::array<std::string, 4> folders;
    std::vector<std::jthread> callers;
    for (auto& folder : folders)
      callers.emplace_back([&parent, &begin, &folder] {
        begin.arrive_and_wait();
        folder = own_folder(parent.path());
      });
    callers.clear();
    for (const auto& folder : folders) BOOST_TEST(folder == folders[0]);
  }
}

// A lock on the parent is no means against this user.
BOOST_AUTO_TEST_CASE(others_that_lock_the_parent_do_not_keep_a_folder_from_being_made) {
  write_file(plain, "");
  const FileDescriptor theirs(open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  BOOST_REQUIRE(flock(theirs.get(), LOCK_EX) == 0);
  expect_another(*this);
}

BOOST_AUTO_TEST_CASE(a_file_is_not_taken) {
  write_file(plain, "");
  expect_another(*this);
}

// Who made it can let it lead elsewhere at any time.
BOOST_AUTO_TEST_CASE(a_link_is_not_taken_though_it_leads_to_an_own_folder) {
  const Parent other;
  std::filesystem::create_directory_symlink(own_folder(other.path()), plain);
  expect_another(*this);
}

BOOST_AUTO_TEST_CASE(a_parent_that_is_not_there_is_named) {
  const std::string nowhere = file("nowhere");
  BOOST_CHECK_EXCEPTION(own_folder(nowhere), Error, says("the folder '" + nowhere + "/actorflow-"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace actorflow::test
