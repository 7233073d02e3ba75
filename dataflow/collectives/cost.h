// How long the algorithms of an all-reduce take, by a model, and which one is the fastest.
#pragma once

#include <cstdint>

#include "dataflow/collectives/host_runs.h"
#include "dataflow/collectives/link_cost.h"
#include "dataflow/collectives/schedule.h"

namespace actorflow {

// What a message takes a rank.
constexpr double message_seconds(const LinkCost& link, double bytes) {
  return link.per_message + bytes * link.per_byte;
}

// How an all-reduce is made. `chunks`: of the ring and the hierarchical one.
struct AllReducePlan {
  Algorithm algorithm = Algorithm::direct;
  int chunks = 1;

  bool operator==(const AllReducePlan&) const = default;
};

// In the following `sum_growth` says how many times the bytes of a contribution an unfinished sum has: 2
// where numbers of 16 bits are added in float32.
//
// The time of an all-reduce of so many bytes; those of the ring and of the hierarchical one are
// approximate. REQUIRES: 2 ranks or more, an algorithm other than automatic.
double all_reduce_seconds(const AllReducePlan& plan, const HostRuns& hosts, std::int64_t bytes,
                          const CostModel& model, double sum_growth = 1);
// The number of bytes from which on the fastest among ranks of one host is one in which each adds a slice
// (rabenseifner, or hierarchical among few ranks). README.md has the formula.
double crossover_bytes(int ranks, const CostModel& model);
// The plan of that algorithm with the number of chunks that is the fastest.
AllReducePlan plan_all_reduce(Algorithm algorithm, const HostRuns& hosts, std::int64_t bytes,
                              const CostModel& model, double sum_growth = 1);
// The fastest plan.
AllReducePlan choose_all_reduce(const HostRuns& hosts, std::int64_t bytes, const CostModel& model,
                                double sum_growth = 1);

}  // namespace actorflow
