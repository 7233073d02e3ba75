// Reducing the contributions of ranks.
#pragma once

#include <cstddef>
#include <span>

#include "dataflow/collectives/agreement.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

class Team;

// Elements without a tensor of their own.
using Bytes = std::span<const std::byte>;

// A rank's contribution as it travels: multiplied by the factor, and compressed. `values` itself if
// neither is needed, and where numbers of 16 bits are reduced: reduce_in_order() multiplies these.
Tensor outgoing(const CollectiveCall& call, Tensor values, Allocator& allocator, Team* team);

// The bytes of an element of a sum that is not complete.
std::size_t unfinished_bytes(const CollectiveCall& call);

// Which part of a sum is made.
struct SumStage {
  bool continues = false;  // parts[0] is an unfinished sum
  int ranks = 0;           // all, whose sum is complete with these parts; 0: it is unfinished
};

// out[i] = ((parts[0][i] + parts[1][i]) + parts[2][i]) + ..., or what call.reduction is instead of the
// sum; integers wrap around, and a NaN stays one. Where the sum is complete an average's division and
// the factor follow. Numbers of 16 bits are multiplied by the factor before and added in float32, as
// which unfinished sums travel, too; a complete sum is rounded. The parts and `out` are as they travel.
// The bits do not depend on the team. REQUIRES: all of as many elements, of a dtype that check_call()
// accepts; `out` overlaps no part.
void reduce_in_order(const CollectiveCall& call, std::span<const Bytes> parts, SumStage stage,
                     std::span<std::byte> out, Team* team);

// Expands compressed numbers to float32. REQUIRES: twice as many bytes in `out`.
void expand(Bytes compressed, std::span<std::byte> out, Team* team);

}  // namespace actorflow
