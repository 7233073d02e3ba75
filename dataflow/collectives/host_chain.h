// The schedule of an all-reduce whose sums travel from host to host.
#pragma once

#include <vector>

#include "dataflow/collectives/schedule.h"

namespace actorflow {

// Each host's ranks divide the chunks among themselves. The owner of a chunk gets what the other ranks
// of its host contribute, and the sum of all hosts before; it adds its host's ranks in their order, and
// passes the sum to the chunk's owner on the next host. The last host begins with the results, which
// travel on from the first host; each owner gives them to its host's ranks. So a host sends and
// receives the tensor at most twice, however many ranks it has. `hosts`: the numbers of their ranks.
//
// With one rank on each host this is a ring.
RankSchedule make_host_chain(const std::vector<int>& hosts, int chunks, int rank);

}  // namespace actorflow
