// What tasks can compute: the built-in ops and optimizers, and those that a program adds.
#pragma once

#include <memory>
#include <vector>

#include "kernels/core/kernel.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// Ops and optimizers of a program, which hands the same ones to all its servers. The definitions and
// rules live as long as the program.
struct Extensions {
  // An op's definition needs a shape function, and a kernel for CPUs or GPUs; it works on tensors alone
  // (Dispatch::kernel). A gradient function makes it differentiable.
  std::vector<Op> ops = {};
  std::vector<const OptimizerRule*> optimizers = {};

  bool empty() const { return ops.empty() && optimizers.empty(); }
};

// Immutable, thread-safe.
class Library {
 public:
  // Throws invalid_argument for an op that lacks something, and already_exists for two ops or two
  // optimizers of one name.
  explicit Library(const Extensions& extensions = {});

  const OpLibrary& ops() const { return own_ops_ ? *own_ops_ : builtin_ops(); }
  const OptimizerLibrary& optimizers() const { return optimizers_; }

 private:
  std::unique_ptr<const OpLibrary> own_ops_;  // none without own ops
  OptimizerLibrary optimizers_;
};

// The library without extensions.
const Library& builtin_library();

}  // namespace actorflow
