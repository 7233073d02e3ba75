// A world of an elastic job: the tasks that train together from one change to the next.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace actorflow {

struct LaunchedWorld {
  std::int64_t epoch = 0;
  std::vector<int> members{};  // in the order of ranks; the state of the first one counts
  std::int64_t step = -1;      // of that state; -1: it has none

  bool operator==(const LaunchedWorld&) const = default;
};

// A task that wants to be in the next world.
struct Candidate {
  int task = 0;
  std::int64_t epoch = 0;  // of the last world that it was in
  std::int64_t step = -1;  // of the state that it holds
};

// The world after `last`, of `most` candidates at most. The first rank is one with the greatest step of
// those that come from `last`: as a step changes all its members or only those who have finished it,
// nobody has seen more. A task from outside counts only if none of them has a state. The other members
// of `last` follow in their order, and then those who come, in order of their numbers.
// REQUIRES: there is a candidate.
LaunchedWorld next_world(const LaunchedWorld& last, std::span<const Candidate> candidates, int most);

}  // namespace actorflow
