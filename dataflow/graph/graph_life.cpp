#include "dataflow/graph/graph_life.h"

#include <deque>
#include <mutex>
#include <vector>

namespace actorflow {
namespace {

struct Places {
  std::mutex mutex;
  std::deque<GraphLife> all;
  std::vector<GraphLife*> free;
  std::uint64_t last_number = 0;
};

// Never destroyed: graphs may be static.
Places& places() {
  static auto* places = new Places();
  return *places;
}

}  // namespace

GraphLife& GraphLife::begin(Graph& graph) {
  auto& [mutex, all, free, last_number] = places();
  const std::lock_guard lock(mutex);
  if (free.empty()) {
    // With room for all of them, so that giving one back cannot fail.
    if (free.capacity() == all.size()) free.reserve(2 * all.size() + 8);
    free.push_back(&all.emplace_back());
  }
  GraphLife& life = *free.back();
  free.pop_back();
  life.graph_ = &graph;
  life.number_.store(++last_number, std::memory_order_relaxed);
  return life;
}

void GraphLife::end() noexcept {
  auto& [mutex, all, free, last_number] = places();
  const std::lock_guard lock(mutex);
  number_.store(0, std::memory_order_relaxed);
  free.push_back(this);
}

}  // namespace actorflow
