// The node that a thread is computing, for crash reports.
#pragma once

#include "dataflow/graph/op.h"

namespace actorflow {

// Marks the node as computed by this thread for the life of the object; the node must outlive it. Nests.
class Computing {
 public:
  explicit Computing(const Node& node) : Computing(&node, current_) {}
  // Takes over the mark of another thread, which waits for this one meanwhile.
  explicit Computing(const Computing* elsewhere)
      : Computing(elsewhere ? elsewhere->node_ : nullptr, elsewhere) {}
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() { current_ = before_; }

  // The innermost mark of this thread, null if there is none. Safe in signal handlers.
  static const Computing* on_this_thread() { return current_; }
  const Node* node() const { return node_; }
  const Computing* outer() const { return outer_; }

 private:
  Computing(const Node* node, const Computing* outer) : node_(node), outer_(outer), before_(current_) {
    current_ = this;
  }

  static inline thread_local const Computing* current_ = nullptr;

  const Node* const node_;
  const Computing* const outer_;
  const Computing* const before_;
};

}  // namespace actorflow
