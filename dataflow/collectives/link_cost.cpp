#include "dataflow/collectives/link_cost.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr double least_latency = 15e-6, least_per_message = 1e-7, least_per_byte = 1e-12;

void check_cost(const std::string& name, double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) return;
  throw invalid_argument(name + " is " + std::to_string(seconds) + " s, expected 0 or more");
}

void check_link(const std::string& name, const LinkCost& link) {
  check_cost(name + ".latency", link.latency);
  check_cost(name + ".per_message", link.per_message);
  check_cost(name + ".per_byte", link.per_byte);
  check_cost(name + ".per_byte_of_port", link.per_byte_of_port);
}

}  // namespace

void check_costs(const CostModel& costs) {
  check_link("CostModel::host", costs.host);
  check_link("CostModel::network", costs.network);
  check_cost("CostModel::per_added_byte", costs.per_added_byte);
}

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
