// What a thread is computing, for crash reports.
#pragma once

#include <atomic>
#include <string>

#include "dataflow/graph/op.h"

namespace actorflow {

// The name of a computation that is not a node of a graph.
struct WorkName {
  std::string what;  // "part 3 of the stage 'read_text, map'"
  std::string task;  // "" if it is computed outside of a cluster
};

// Marks the node, or work, as computed by this thread for the life of the object; it must outlive it.
// Nests.
class Computing {
 public:
  explicit Computing(const Node& node) : Computing(&node, nullptr, current_) {}
  explicit Computing(const WorkName& work) : Computing(nullptr, &work, current_) {}
  // Takes over the mark of another thread. REQUIRES: that thread waits for this one meanwhile.
  explicit Computing(const Computing* elsewhere)
      : Computing(elsewhere ? elsewhere->node_ : nullptr, elsewhere ? elsewhere->work_ : nullptr,
                  elsewhere) {}
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    current_ = before_;
  }

  // The innermost mark of this thread, null if there is none. Safe in signal handlers.
  static const Computing* on_this_thread() { return current_; }
  // At most one of both is not null; both are null if there was no mark to take over.
  const Node* node() const { return node_; }
  const WorkName* work() const { return work_; }
  const Computing* outer() const { return outer_; }

 private:
  Computing(const Node* node, const WorkName* work, const Computing* outer)
      : node_(node), work_(work), outer_(outer), before_(current_) {
    current_ = this;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // a crash in what follows finds the mark
  }

  static inline thread_local const Computing* current_ = nullptr;

  const Node* const node_;
  const WorkName* const work_;
  const Computing* const outer_;
  const Computing* const before_;
};

}  // namespace actorflow
