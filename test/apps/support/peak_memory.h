// How much memory processes have had.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace actorflow::test {

// The most resident memory of a process so far, or since it was reset. 0: the process has ended.
inline std::int64_t peak_kib(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string word;
  std::int64_t value = 0;
  while (status >> word)
    if (word == "VmHWM:" && status >> value) return value;
  return 0;
}

}  // namespace actorflow::test
