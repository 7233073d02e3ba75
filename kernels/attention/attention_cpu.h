// Attention on a CPU. Internal to kernels/attention.
#pragma once

#include <memory>

#include "kernels/attention/attention.h"
#include "kernels/core/kernel.h"

namespace actorflow {

// Computes attentions of any sizes. Keeps oneDNN's primitives. The result's bits depend on sizes and
// inputs alone. Thread-safe.
class CpuAttention {
 public:
  // Products are of float32 at any precision: their factors stay in the cache, where rounding them would
  // cost more than it saves.
  explicit CpuAttention(Precision precision);
  ~CpuAttention();

  // REQUIRES: nothing of the size is 0.
  void run(OpContext& c, const AttentionForward<float>& forward) const;
  void run(OpContext& c, const AttentionForward<double>& forward) const;
  void run(OpContext& c, const AttentionBackward<float>& backward) const;
  void run(OpContext& c, const AttentionBackward<double>& backward) const;

 private:
  struct Products;
  const std::unique_ptr<Products> products_;
};

}  // namespace actorflow
