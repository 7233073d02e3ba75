// Tables of all-reduces: which algorithm is the fastest, and whether the cost model chooses it.
#pragma once

#include <vector>

#include "bench/scale/all_reduce.h"

namespace actorflow::bench {

// Prints them over ranks and sizes, on one network.
void tabulate_all_reduces(const std::vector<int>& ranks, const HostNetwork& network);

}  // namespace actorflow::bench
