// The most memory that this process has held at once, as Linux counts it.
#pragma once

#include <fstream>
#include <string>

namespace actorflow::bench {

inline void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

inline double peak_memory_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kib = 0;
  while (status >> word)
    if (word == "VmHWM:" && status >> kib) return kib / 1024;
  return 0;
}

}  // namespace actorflow::bench
