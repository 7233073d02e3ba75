// The conditional accumulators of a shard: what dataflow/ops/conditional_accumulator.h describes.
#pragma once

#include <cstdint>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/waiters.h"
#include "actors/shard/row_sums.h"

namespace actorflow {

struct ConditionalState {
  struct Taker {
    ReplyTo reply_to;
    std::int64_t required = 1;
    std::string node;
  };
  // What everybody who names it must agree upon.
  struct Kind {
    TensorType type;
    bool mean = true;
    bool sparse = false;

    static Kind of(const Node& node);
    std::string to_string() const;
    bool operator==(const Kind&) const = default;
  };

  Kind kind;
  // Of the gradients, in the order in which they came.
  Tensor sum;    // dense; empty if there is none
  RowSums rows;  // sparse
  std::int64_t count = 0;
  std::int64_t global_step = 0;
  Waiters<Taker> takers;  // first come, first served
};

}  // namespace actorflow
