// How much memory processes have.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace actorflow::test {

// A figure of a process's status, such as "VmRSS:". 0: the process has ended.
inline std::int64_t status_kib(pid_t process, const std::string& figure) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string word;
  std::int64_t value = 0;
  while (status >> word)
    if (word == figure && status >> value) return value;
  return 0;
}

inline std::int64_t resident_kib(pid_t process) { return status_kib(process, "VmRSS:"); }
// The most resident memory so far, or since it was reset.
inline std::int64_t peak_kib(pid_t process) { return status_kib(process, "VmHWM:"); }

}  // namespace actorflow::test
