// All-reduces of many ranks on the simulation's network model, without any bytes: the schedules of
// dataflow/collectives as they are carried out, message by message.
#pragma once

#include <cstdint>
#include <vector>

#include "actors/simulation/link_model.h"
#include "dataflow/collectives/cost.h"

namespace actorflow::bench {

// Between hosts, ports, processors and latencies are those of SimNetwork
// (actors/simulation/sim_network.cpp), the latency that of the mean message; a host's ranks share its
// port. Within a host messages cost what the cost model says by default.
struct HostNetwork {
  LinkModel links{};
  double added_per_second = 1e10;  // bytes, by a processor; each rank has one

  // The constants that a measurement of this network would give.
  CostModel measured() const;
};

// The numbers of ranks of hosts, whose ranks follow each other.
using HostSizes = std::vector<int>;
HostRuns host_runs(const HostSizes& hosts);

// The virtual time, in seconds, until the last rank has the sum of so many bytes; `sum_growth` as in
// cost.h.
double simulate_all_reduce(const AllReducePlan& plan, const HostSizes& hosts, std::int64_t bytes,
                           const HostNetwork& network, double sum_growth = 1);

}  // namespace actorflow::bench
