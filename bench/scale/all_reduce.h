// All-reduces of many ranks on the simulation's network model, without any bytes: the schedules of
// dataflow/collectives as they are carried out, message by message.
#pragma once

#include <cstdint>

#include "actors/simulation/link_model.h"
#include "dataflow/collectives/schedule.h"

namespace actorflow::bench {

// The virtual time, in seconds, until the last rank has the sum of so many bytes. Ports, processors and
// latencies are those of SimNetwork (actors/simulation/sim_network.cpp), the latency that of the mean
// message; a processor adds `added_per_second` bytes.
double simulate_all_reduce(const SchedulePlan& plan, std::int64_t bytes, const LinkModel& links,
                           double added_per_second);

}  // namespace actorflow::bench
