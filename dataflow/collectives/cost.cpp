#include "dataflow/collectives/cost.h"

#include <algorithm>

#include "dataflow/collectives/chain_time.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// What is smaller takes longer as a message than it saves.
constexpr std::int64_t least_chunk_bytes = std::int64_t{16} << 10;
constexpr int most_chunks_of_owner = 64;

class AllReduceTime {
 public:
  AllReduceTime(const HostRuns& hosts, double bytes, const CostModel& model, double sum_growth)
      : hosts_(hosts),
        ranks_(hosts.ranks),
        bytes_(bytes),
        model_(model),
        sum_growth_(sum_growth),
        slowest_(hosts.hosts > 1 ? model.network : model.host) {}

  double direct() const { return exchange(bytes_) + add_all(bytes_); }
  double doubling() const { return gather(bytes_) + add_all(bytes_); }
  double rabenseifner() const {
    const double slice = bytes_ / ranks_;
    return exchange(slice) + add_all(slice) + gather(slice);
  }

 private:
  double add_all(double bytes) const {
    return (ranks_ - 1) * sum_growth_ * bytes * model_.per_added_byte;
  }

  // Each rank sends so many bytes to each other one.
  double exchange(double bytes) const {
    const int within = hosts_.largest - 1, outside = ranks_ - hosts_.largest;
    const double processor =
        within * message_seconds(model_.host, bytes) + outside * message_seconds(model_.network, bytes);
    const double port = hosts_.largest * outside * bytes * slowest_.per_byte_of_port;
    return slowest_.latency + std::max(processor, message_seconds(slowest_, bytes) + port);
  }

  // Bruck's. Over distances shorter than a host, a part crosses the border between hosts once.
  double gather(double bytes) const {
    double time = 0;
    for (int have = 1; have < ranks_; have *= 2) {
      const double sent = bytes * std::min(have, ranks_ - have);
      const bool near = hosts_.contiguous() && have < hosts_.largest;
      const LinkCost& link = near && have > 1 ? model_.host : slowest_;
      time += link.latency + message_seconds(link, sent) +
              (near ? have : hosts_.largest) * sent * slowest_.per_byte_of_port;
    }
    return time;
  }

  const HostRuns& hosts_;
  const int ranks_;
  const double bytes_;
  const CostModel& model_;
  const double sum_growth_;
  const LinkCost& slowest_;
};

}  // namespace

double all_reduce_seconds(const AllReducePlan& plan, const HostRuns& hosts, std::int64_t bytes,
                          const CostModel& model, double sum_growth) {
  const AllReduceTime time(hosts, static_cast<double>(bytes), model, sum_growth);
  switch (plan.algorithm) {
    case Algorithm::direct:
      return time.direct();
    case Algorithm::doubling:
      return time.doubling();
    case Algorithm::rabenseifner:
      return time.rabenseifner();
    case Algorithm::ring:
      return ChainTime::of_ring(hosts, model).seconds(bytes, plan.chunks, sum_growth);
    case Algorithm::hierarchical:
      return ChainTime::of_hosts(hosts, model).seconds(bytes, plan.chunks, sum_growth);
    case Algorithm::automatic:
      break;
  }
  ACTORFLOW_CHECK(false, "the algorithm of an all-reduce");
}

double crossover_bytes(int ranks, const CostModel& model) {
  const double p = ranks;
  const LinkCost& link = model.host;
  return (link.latency + (p - 1) * link.per_message) / (p - 1) /
         (link.per_byte * (1 - 2 / p) + model.per_added_byte * (1 - 1 / p));
}

AllReducePlan plan_all_reduce(Algorithm algorithm, const HostRuns& hosts, std::int64_t bytes,
                              const CostModel& model, double sum_growth) {
  if (algorithm != Algorithm::ring && algorithm != Algorithm::hierarchical) return {algorithm, 1};
  const int owners = algorithm == Algorithm::ring ? 1 : hosts.longest();
  AllReducePlan best{algorithm, std::min(owners, most_chunks)};
  double shortest = all_reduce_seconds(best, hosts, bytes, model, sum_growth);
  for (int each = 2; each <= most_chunks_of_owner; each *= 2) {
    const AllReducePlan more{algorithm, each * owners};
    if (more.chunks > most_chunks || bytes / more.chunks < least_chunk_bytes) break;
    const double time = all_reduce_seconds(more, hosts, bytes, model, sum_growth);
    if (time < shortest) {
      shortest = time;
      best = more;
    }
  }
  return best;
}

AllReducePlan choose_all_reduce(const HostRuns& hosts, std::int64_t bytes, const CostModel& model,
                                double sum_growth) {
  AllReducePlan best{Algorithm::direct, 1};  // it packs nothing
  if (hosts.ranks < 2) return best;
  double shortest = all_reduce_seconds(best, hosts, bytes, model, sum_growth);
  const auto consider = [&](Algorithm algorithm) {
    const AllReducePlan plan = plan_all_reduce(algorithm, hosts, bytes, model, sum_growth);
    const double time = all_reduce_seconds(plan, hosts, bytes, model, sum_growth);
    if (time >= shortest) return;
    shortest = time;
    best = plan;
  };
  consider(Algorithm::doubling);
  consider(Algorithm::rabenseifner);
  if (hosts.hosts > 1) consider(Algorithm::ring);
  // Two ranks of one host send and add the same as in Rabenseifner's.
  if (hosts.largest > 1 && hosts.ranks > 2) consider(Algorithm::hierarchical);
  return best;
}

}  // namespace actorflow
