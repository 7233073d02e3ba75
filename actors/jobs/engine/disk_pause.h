// How long a disk is left alone that has refused: most of what is wrong with one is over soon.
#pragma once

#include <chrono>

namespace actorflow {

// How often something is tried that may go well another time.
constexpr unsigned most_attempts = 4;

// After the first failure, 1 s; after each further one four times as long.
constexpr std::chrono::seconds disk_pause(unsigned failures) {
  return std::chrono::seconds(1U << (2 * (failures - 1)));
}

}  // namespace actorflow
