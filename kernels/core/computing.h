// Which node a thread computes, for the report of a crash.
#pragma once

#include "dataflow/graph/op.h"

namespace actorflow {

// From construction to destruction this thread computes the node, which lives longer. Nests.
class Computing {
 public:
  explicit Computing(const Node& node) : Computing(&node, current_) {}
  // What another thread computes, as long as it waits for this one.
  explicit Computing(const Computing* elsewhere)
      : Computing(elsewhere ? elsewhere->node_ : nullptr, elsewhere) {}
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  ~Computing() { current_ = before_; }

  // The innermost; null: nothing. For signal handlers, too.
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
