// Virtual time as a number.
#pragma once

#include <chrono>

namespace actorflow::bench {

inline double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace actorflow::bench
