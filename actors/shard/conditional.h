// The conditional accumulators of a shard (dataflow/ops/conditional_accumulator.h).
#pragma once

#include <cstdint>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/wait_reports.h"
#include "actors/core/waiters.h"
#include "actors/shard/row_sums.h"

namespace actorflow {

struct ConditionalState {
  struct Taker {
    ReplyTo reply_to;
    std::int64_t required = 1;
    std::string node;
  };
  // The properties on which all ops that name it must agree.
  struct Kind {
    TensorType type;
    bool mean = true;
    bool sparse = false;

    static Kind of(const Node& node);
    std::string to_string() const;
    bool operator==(const Kind&) const = default;
  };

  Kind kind;
  // The sums of the gradients, in the order of their arrival.
  Tensor sum;    // dense; empty if there is none
  RowSums rows;  // sparse
  std::int64_t count = 0;
  std::int64_t global_step = 0;
  Waiters<Taker> takers;  // first come, first served
  WaitReports reports;
};

}  // namespace actorflow
