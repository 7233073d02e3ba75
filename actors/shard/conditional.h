// The conditional accumulator of a shard: what dataflow/conditional_accumulator.h describes.
#pragma once

#include <cstdint>
#include <deque>

#include "actors/messages.h"

namespace actorflow {

struct ConditionalState {
  struct Taker {
    ReplyTo reply_to;
    std::int64_t required = 1;
    std::string node;
    bool waited_a_tick = false;
  };

  Tensor sum;  // of the gradients, in the order in which they came; empty if there is none
  std::int64_t count = 0;
  std::int64_t global_step = 0;
  bool mean = true;
  TensorType type;
  std::deque<Taker> takers;  // first come, first served
};

}  // namespace actorflow
