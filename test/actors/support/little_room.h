// A process in which only a few more threads can be started.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <fstream>

#include "test/support/sanitized.h"

namespace actorflow::test {

// A sanitizer's own memory counts in the limit, and it ends the process there.
inline boost::test_tools::assertion_result room_can_be_little(boost::unit_test::test_unit_id) {
  return !sanitized;
}

// While it lives, this process has room for a few more stacks of threads.
class LittleRoom {
 public:
  LittleRoom() {
    BOOST_REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    BOOST_REQUIRE(pages > 0U);
    const std::size_t room = std::size_t{100} << 20;
    const rlimit limit{pages * static_cast<std::size_t>(getpagesize()) + room, before_.rlim_max};
    BOOST_REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  }
  LittleRoom(const LittleRoom&) = delete;
  LittleRoom& operator=(const LittleRoom&) = delete;
  ~LittleRoom() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

}  // namespace actorflow::test
