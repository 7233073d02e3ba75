// Whether a graph still exists, for handles that may outlive it.
#pragma once

#include <atomic>
#include <cstdint>

namespace actorflow {

class Graph;

// The place of one graph at a time. Places are used again but never freed, so that a handle may ask
// after its graph has ended; each graph has a number of its own. Thread-safe.
class GraphLife {
 public:
  // Takes a place for a graph, from its construction to its end.
  class Holder {
   public:
    explicit Holder(Graph& graph) : life_(begin(graph)) {}
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() { life_.end(); }

    const GraphLife& life() const { return life_; }

   private:
    GraphLife& life_;
  };

  GraphLife() = default;
  GraphLife(const GraphLife&) = delete;
  GraphLife& operator=(const GraphLife&) = delete;

  // Of the graph that is here; 0 if there is none.
  std::uint64_t number() const { return number_.load(std::memory_order_relaxed); }
  // REQUIRES: a graph is here.
  Graph& graph() const { return *graph_; }

 private:
  static GraphLife& begin(Graph& graph);
  void end() noexcept;

  std::atomic<std::uint64_t> number_ = 0;
  Graph* graph_ = nullptr;
};

}  // namespace actorflow
