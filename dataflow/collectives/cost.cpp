#include "dataflow/collectives/cost.h"

#include <algorithm>
#include <bit>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// ceil(log2(ranks)).
double rounds(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

}  // namespace

double all_reduce_seconds(Algorithm algorithm, int ranks, std::int64_t bytes, const CostModel& model) {
  const double others = ranks - 1, n = static_cast<double>(bytes), share = others / ranks;
  const double whole = others * n * (model.per_byte + model.per_added_byte);
  const double exchange = model.latency + others * model.per_message;
  const double gather = rounds(ranks) * (model.latency + model.per_message);
  switch (algorithm) {
    case Algorithm::direct:
      return exchange + whole;
    case Algorithm::doubling:
      return gather + whole;
    default:
      ACTORFLOW_CHECK(algorithm == Algorithm::rabenseifner, "an algorithm that is chosen automatically");
      return exchange + gather + share * n * (2 * model.per_byte + model.per_added_byte);
  }
}

double crossover_bytes(int ranks, const CostModel& model) {
  const double p = ranks;
  const double exchange = model.latency + (p - 1) * model.per_message;
  const double gather = rounds(ranks) * (model.latency + model.per_message);
  return std::max(exchange, gather) / (p - 1) /
         (model.per_byte * (1 - 2 / p) + model.per_added_byte * (1 - 1 / p));
}

Algorithm choose_all_reduce(int ranks, std::int64_t bytes, const CostModel& model) {
  Algorithm best = Algorithm::direct;  // it packs nothing
  for (const auto other : {Algorithm::doubling, Algorithm::rabenseifner})
    if (all_reduce_seconds(other, ranks, bytes, model) < all_reduce_seconds(best, ranks, bytes, model))
      best = other;
  return best;
}

}  // namespace actorflow
