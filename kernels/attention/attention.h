// The arguments of attention's kernels, on both devices. Internal to kernels/attention.
//
// All tensors are [batch, length, heads, width], dense, but `logsumexp` [batch, queries, heads]: the
// logarithms of the sums of a row's exponentials, from which the gradient computes the weights again.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/devices/host_device.h"

namespace actorflow {

struct AttentionSize {
  std::int64_t batch, queries, keys, heads, width;
  bool causal;
  bool fours = false;  // on a GPU: whether all rows can be read in packs of four

  // What the products of queries and keys are multiplied with.
  ACTORFLOW_HOST_DEVICE double scale() const { return 1 / std::sqrt(static_cast<double>(width)); }
  // How many keys query `i` looks at.
  ACTORFLOW_HOST_DEVICE std::int64_t visible(std::int64_t i) const {
    return causal && i + 1 < keys ? i + 1 : keys;
  }
  std::int64_t row_stride() const { return heads * width; }
};

template <class T>
struct AttentionForward {
  AttentionSize size;
  const T *query, *key, *value;
  T *output, *logsumexp;
};

template <class T>
struct AttentionBackward {
  AttentionSize size;
  const T *gradient, *query, *key, *value, *output, *logsumexp;
  const T* logsumexp_gradient;  // null: none
  T *query_gradient, *key_gradient, *value_gradient;
};

}  // namespace actorflow
