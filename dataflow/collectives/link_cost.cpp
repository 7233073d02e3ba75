#include "dataflow/collectives/link_cost.h"

#include <algorithm>

namespace actorflow {
namespace {

constexpr double least_latency = 15e-6, least_per_message = 1e-7, least_per_byte = 1e-12;

}  // namespace

LinkCost link_cost(const LinkTimes& times, const LinkCost& usual) {
  LinkCost cost = usual;
  if (times.round_trip <= 0) return cost;
  const double there = times.round_trip / 2;
  if (times.burst > 0)
    cost.per_message =
        std::max((times.burst - times.round_trip) / (times.burst_messages - 1), least_per_message);
  cost.per_message = std::min(cost.per_message, there);
  cost.latency = std::max(there - cost.per_message, least_latency);
  if (times.large <= 0) return cost;
  const double per_byte = std::max(
      (times.large - times.round_trip) / static_cast<double>(times.large_bytes), least_per_byte);
  const double of_rank = usual.per_byte / (usual.per_byte + usual.per_byte_of_port);
  cost.per_byte = per_byte * of_rank;
  cost.per_byte_of_port = per_byte * (1 - of_rank);
  return cost;
}

}  // namespace actorflow
