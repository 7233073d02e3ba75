// Files that hold keys, on a disk that is full.
#include "schema/private_file.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "test/support/folder.h"

using namespace actorflow;
using namespace actorflow::test;

namespace {

// No file of this process grows beyond so many bytes: a write ends short there, and the next one fails.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : before_signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, before_signal_);
  }

 private:
  void (*const before_signal_)(int);
  rlimit before_{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(private_file, Folder)

BOOST_AUTO_TEST_CASE(what_does_not_fit_leaves_nothing_behind_and_says_why) {
  const std::string path = file("key");
  std::string failed;
  int error = 0;
  {
    const SizeLimit limit(16);
    errno = 0;
    failed = write_private_file(path, std::string(100, 'k'));
    error = errno;
  }
  BOOST_TEST(failed == path);
  BOOST_TEST(error == EFBIG);
  BOOST_TEST(std::filesystem::is_empty(this->path()));
}

BOOST_AUTO_TEST_CASE(a_folder_in_its_place_stays_and_nothing_lies_beside_it) {
  std::filesystem::create_directories(file("key/inside"));
  BOOST_TEST(write_private_file(file("key"), "secret") == file("key"));
  BOOST_TEST(!std::filesystem::exists(file("key.part")));
  BOOST_TEST(std::filesystem::exists(file("key/inside")));
}

BOOST_AUTO_TEST_CASE(what_is_no_file_is_not_replaced) {
  BOOST_TEST_REQUIRE(mkfifo(file("pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/null", file("device"));
  std::filesystem::create_symlink("/proc/self/status", file("output"));
  for (const std::string name : {"pipe", "device", "output"}) {
    BOOST_TEST(write_private_file(file(name), "secret") == file(name));
    BOOST_TEST(errno == ENOTSUP);
    BOOST_TEST(!std::filesystem::exists(file(name + ".part")));
  }
  BOOST_TEST(std::filesystem::is_fifo(file("pipe")));
  BOOST_TEST(std::filesystem::is_symlink(file("device")));
  BOOST_TEST(std::filesystem::is_symlink(file("output")));
}

BOOST_AUTO_TEST_SUITE_END()
