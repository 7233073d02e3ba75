// Slices that know where they end. Internal to kernels/.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// slice() of a part that ends where x ends, along all axes; it fails when it runs if the sizes say otherwise.
Output slice_to_end(Output x, const std::vector<std::int64_t>& begin,
                    const std::vector<std::int64_t>& size);

}  // namespace actorflow
