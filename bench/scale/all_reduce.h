// All-reduces of many ranks on the simulation's network model, without any bytes: the schedules of
// dataflow/collectives as they are carried out, message by message.
#pragma once

#include <cstdint>

#include "actors/simulation/link_model.h"
#include "dataflow/collectives/cost.h"

namespace actorflow::bench {

// Hosts with so many ranks each; the last one has the rest. Between hosts, ports, processors and
// latencies are those of SimNetwork (actors/simulation/sim_network.cpp), the latency that of the mean
// message; a host's ranks share its port. Within a host messages cost what the cost model says by
// default.
struct HostNetwork {
  LinkModel links{};
  int ranks_per_host = 1;
  double added_per_second = 1e10;  // bytes, by a processor; each rank has one

  HostRuns hosts(int ranks) const;
  // The constants that a measurement of this network would give.
  CostModel measured() const;
};

// The virtual time, in seconds, until the last rank has the sum of so many bytes.
double simulate_all_reduce(const AllReducePlan& plan, int ranks, std::int64_t bytes,
                           const HostNetwork& network);

}  // namespace actorflow::bench
