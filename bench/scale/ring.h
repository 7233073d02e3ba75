// The communication of a ring all-reduce (Patarasuk and Yuan 2009) among simulated tasks: 2 (n - 1) times
// each sends a chunk of 1/n of the tensor to the next one. The chunks are encoded, sent and decoded, but
// not added.
#pragma once

#include <cstdint>

#include "actors/simulation/link_model.h"

namespace actorflow::bench {

// The virtual time, in seconds, until the last of `workers` has its last chunk.
double simulate_ring(int workers, std::int64_t bytes, const LinkModel& links);

}  // namespace actorflow::bench
