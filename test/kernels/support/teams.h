// Teams that make their parts in other ways than one thread does.
#pragma once

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

#include "kernels/devices/team.h"

namespace actorflow::test {

// Makes its parts on this thread, the last one first.
struct Backwards final : Team {
  void run(int count, const std::function<void(int)>& part) override {
    most_parts = std::max(most_parts, count);
    for (int i = count; i-- > 0;) part(i);
  }
  int most_parts = 0;
};

// Makes its parts at the same time, each on a thread of its own.
struct ThreadPerPart final : Team {
  void run(int count, const std::function<void(int)>& part) override {
    most_parts = std::max(most_parts, count);
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(part, i);
  }
  int most_parts = 0;
};

}  // namespace actorflow::test
