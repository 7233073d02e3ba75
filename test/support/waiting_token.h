// A step that does not end by itself.
#pragma once

#include <cstdint>
#include <string>

#include "dataflow/ops/training_ops.h"

namespace actorflow::test {

// A node that waits at the barrier of this global step: of one replica, which has made its contribution
// to step `last` and makes no other.
inline Output token_that_never_comes(Graph& g, const std::string& global_step = "global_step",
                                     std::int64_t last = 0) {
  return g.add(take_token_op(), {g.constant(last), g.constant(std::int64_t{0})},
               {{"variable", global_step},
                {"accumulators", std::int64_t{1}},
                {"replica", std::int64_t{0}},
                {"replicas_to_aggregate", std::int64_t{1}},
                {"total_num_replicas", std::int64_t{1}},
                {"initial_tokens", std::int64_t{0}}});
}

}  // namespace actorflow::test
