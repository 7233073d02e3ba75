// How long tests wait for another process.
#pragma once

#include <chrono>

namespace actorflow::test {

// Only ends a hang, however slow the machine. With sanitizers, which make programs several times slower,
// it is as much longer as CTest's limit of a suite (test/CMakeLists.txt).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::seconds hang_limit{720};
#else
constexpr std::chrono::seconds hang_limit{120};
#endif

}  // namespace actorflow::test
