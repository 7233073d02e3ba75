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

// out[i] = ((parts[0][i] + parts[1][i]) + parts[2][i]) + ..., or what call.reduction is instead of the
// sum; integers wrap around, and a NaN stays one. Numbers of 16 bits are added in float32, and the sum
// is rounded at the end of the call; the factor before is applied there, too. With the last rank's part
// (`ranks` are all; 0: more parts are to come) an average's division and the factor follow. The parts
// and `out` are as they travel. The bits do not depend on the team. REQUIRES: all of one size, of a
// dtype that check_call() accepts; `out` overlaps no part.
void reduce_in_order(const CollectiveCall& call, std::span<const Bytes> parts, int ranks,
                     std::span<std::byte> out, Team* team);

// Expands compressed numbers to float32. REQUIRES: twice as many bytes in `out`.
void expand(Bytes compressed, std::span<std::byte> out, Team* team);

}  // namespace actorflow
