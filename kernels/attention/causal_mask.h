// The mask of causal attention, where that is made of other ops.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/values/tensor.h"

namespace actorflow {

// Float32 [queries, keys], to be added to the scores: 0 where a query looks, and so little elsewhere
// that the weight becomes 0.
inline Tensor causal_mask(std::int64_t queries, std::int64_t keys) {
  std::vector<float> values(static_cast<std::size_t>(queries * keys));
  for (std::int64_t query = 0; query < queries; ++query)
    for (std::int64_t key = query + 1; key < keys; ++key)
      values[static_cast<std::size_t>(query * keys + key)] = -1e9F;
  return Tensor::of<float>({queries, keys}, values);
}

}  // namespace actorflow
