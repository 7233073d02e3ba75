// Tables of all-reduces: which algorithm is the fastest, and whether the cost model chooses it.
#pragma once

#include <vector>

#include "bench/scale/all_reduce.h"

namespace actorflow::bench {

// Prints one over numbers of ranks and sizes, so many ranks a host; the last host has the rest.
void tabulate_all_reduces(const std::vector<int>& ranks, int ranks_per_host, const HostNetwork& network);
// Prints one over hosts of different numbers of ranks.
void tabulate_unequal_hosts(const HostNetwork& network);
// Prints one of numbers of 16 bits, whose unfinished sums are float32, on hosts of 8 ranks.
void tabulate_short_numbers(const HostNetwork& network);

}  // namespace actorflow::bench
