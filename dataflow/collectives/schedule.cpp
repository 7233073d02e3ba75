#include "dataflow/collectives/schedule.h"

#include <algorithm>
#include <numeric>

#include "dataflow/collectives/host_chain.h"
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

using enum ScheduleStep::Action;
using Pieces = std::vector<Piece>;

// Whether its sums travel in chunks.
bool is_chain(Algorithm algorithm) {
  return algorithm == Algorithm::ring || algorithm == Algorithm::hierarchical;
}

int lowest_bit(int number) { return number & -number; }

// Builds the schedule of one rank.
class Builder {
 public:
  Builder(const SchedulePlan& plan, int rank) : plan_(plan), ranks_(plan.ranks), rank_(rank) {}

  void all_reduce() {
    switch (plan_.algorithm) {
      case Algorithm::direct:
        exchange([](int from, int) { return Pieces{{0, from, from}}; });
        return add_all(0);
      case Algorithm::doubling:
        gather_doubling([](int of) { return Piece{0, of, of}; });
        return add_all(0);
      case Algorithm::ring:
        steps_ = make_host_chain(std::vector(static_cast<std::size_t>(ranks_), 1), plan_.chunks, rank_);
        return;
      case Algorithm::hierarchical:
        steps_ = make_host_chain(plan_.hosts, plan_.chunks, rank_);
        return;
      case Algorithm::automatic:
      case Algorithm::rabenseifner:
        reduce_scatter();
        return gather_doubling([this](int of) { return sum_of(of); });
    }
  }

  // Slice i goes to rank i, its owner.
  void reduce_scatter() {
    exchange([](int from, int to) { return Pieces{{to, from, from}}; });
    add_all(rank_);
  }

  void all_gather() {
    const auto own = [](int of) { return Piece{of, of, of}; };
    if (plan_.algorithm == Algorithm::direct)
      return exchange([&](int from, int) { return Pieces{own(from)}; });
    if (plan_.algorithm == Algorithm::ring) return gather_ring();
    gather_doubling(own);
  }

  void all_to_all() {
    exchange([this](int from, int to) { return Pieces{{from * ranks_ + to, from, from}}; });
  }

  // A binomial tree of the ranks counted from the root on. Before its data a rank says that all below it
  // are ready.
  void broadcast() {
    const int own = at(-plan_.root);
    const auto rank_of = [this](int number) { return (number + plan_.root) % ranks_; };
    std::vector<int> children;
    for (int bit = 1; own + bit < ranks_ && (own == 0 || bit < lowest_bit(own)); bit *= 2)
      children.push_back(rank_of(own + bit));
    for (const int child : children) step(receive, child, {});
    const Pieces data{{0, plan_.root, plan_.root}};
    if (own != 0) {
      const int parent = rank_of(own - lowest_bit(own));
      step(send, parent, {});
      step(receive, parent, data);
    }
    std::ranges::reverse(children);  // the deepest branch first
    for (const int child : children) step(send, child, data);
  }

  void barrier() {
    for (int distance = 1; distance < ranks_; distance *= 2) {
      step(send, at(-distance), {});
      step(receive, at(distance), {});
    }
  }

  RankSchedule take() { return std::move(steps_); }

 private:
  // The rank at that distance, around the circle.
  int at(int distance) const { return (rank_ + distance + ranks_) % ranks_; }
  Piece sum_of(int slice) const { return {slice, 0, ranks_ - 1}; }
  void step(ScheduleStep::Action action, int peer, Pieces pieces) {
    steps_.push_back({action, peer, std::move(pieces)});
  }

  // Each rank sends pieces(from, to) to each other rank, beginning with its next one, so that not all
  // send to the same rank at once.
  template <class Which>
  void exchange(Which pieces) {
    for (int i = 1; i < ranks_; ++i) step(send, at(i), pieces(rank_, at(i)));
    for (int i = 1; i < ranks_; ++i) step(receive, at(-i), pieces(at(-i), rank_));
  }

  // In round k a rank has the pieces of 2^k ranks, from its own on, and gives them to the rank 2^k
  // before.
  template <class Which>
  void gather_doubling(Which piece) {
    for (int have = 1; have < ranks_; have *= 2) {
      const int count = std::min(have, ranks_ - have);
      Pieces sent, received;
      for (int i = 0; i < count; ++i) sent.push_back(piece(at(i)));
      for (int i = 0; i < count; ++i) received.push_back(piece((rank_ + have + i) % ranks_));
      step(send, at(-have), std::move(sent));
      step(receive, at(have), std::move(received));
    }
  }

  void gather_ring() {
    for (int i = 0; i + 1 < ranks_; ++i) {
      const int mine = at(-i), theirs = (rank_ - i - 1 + ranks_) % ranks_;
      step(send, at(1), {{mine, mine, mine}});
      step(receive, at(-1), {{theirs, theirs, theirs}});
    }
  }

  void add_all(int slice) {
    Pieces all;
    for (int rank = 0; rank < ranks_; ++rank) all.push_back({slice, rank, rank});
    step(add, 0, std::move(all));
  }

  const SchedulePlan& plan_;
  const int ranks_;
  const int rank_;
  RankSchedule steps_;
};

}  // namespace

void check_plan(const SchedulePlan& plan) {
  if (!is_chain(plan.algorithm)) return;
  if (plan.chunks < 1 || plan.chunks > most_chunks)
    throw invalid_argument("expected 1 to " + std::to_string(most_chunks) + " chunks, got " +
                           std::to_string(plan.chunks));
  if (plan.algorithm == Algorithm::ring) return;
  const bool fits = std::ranges::none_of(plan.hosts, [](int ranks) { return ranks < 1; }) &&
                    std::accumulate(plan.hosts.begin(), plan.hosts.end(), std::int64_t{0}) == plan.ranks;
  if (!fits)
    throw invalid_argument("expected hosts of together " + std::to_string(plan.ranks) +
                           " ranks, each of at least one");
}

int slices_of(const SchedulePlan& plan) {
  switch (plan.kind) {
    case CollectiveKind::all_reduce:
      if (is_chain(plan.algorithm)) return plan.chunks;
      return plan.algorithm == Algorithm::rabenseifner ? plan.ranks : 1;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
      return plan.ranks;
    case CollectiveKind::all_to_all:
      return plan.ranks * plan.ranks;
    case CollectiveKind::broadcast:
      return 1;
    case CollectiveKind::barrier:
      break;
  }
  return 0;
}

std::vector<Piece> contributions(const SchedulePlan& plan, int rank) {
  Pieces pieces;
  switch (plan.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
      for (int slice = 0; slice < slices_of(plan); ++slice) pieces.push_back({slice, rank, rank});
      break;
    case CollectiveKind::all_gather:
      return {{rank, rank, rank}};
    case CollectiveKind::all_to_all:
      for (int to = 0; to < plan.ranks; ++to) pieces.push_back({rank * plan.ranks + to, rank, rank});
      break;
    case CollectiveKind::broadcast:
      if (rank == plan.root) return {{0, rank, rank}};
      break;
    case CollectiveKind::barrier:
      break;
  }
  return pieces;
}

std::vector<Piece> results(const SchedulePlan& plan, int rank) {
  Pieces pieces;
  switch (plan.kind) {
    case CollectiveKind::all_reduce:
      for (int slice = 0; slice < slices_of(plan); ++slice) pieces.push_back({slice, 0, plan.ranks - 1});
      break;
    case CollectiveKind::reduce_scatter:
      return {{rank, 0, plan.ranks - 1}};
    case CollectiveKind::all_gather:
      for (int of = 0; of < plan.ranks; ++of) pieces.push_back({of, of, of});
      break;
    case CollectiveKind::all_to_all:
      for (int of = 0; of < plan.ranks; ++of) pieces.push_back({of * plan.ranks + rank, of, of});
      break;
    case CollectiveKind::broadcast:
      return {{0, plan.root, plan.root}};
    case CollectiveKind::barrier:
      break;
  }
  return pieces;
}

RankSchedule make_schedule(const SchedulePlan& plan, int rank) {
  ACTORFLOW_CHECK(rank >= 0 && rank < plan.ranks, "a rank of the plan");
  Builder builder(plan, rank);
  switch (plan.kind) {
    case CollectiveKind::all_reduce:
      builder.all_reduce();
      break;
    case CollectiveKind::reduce_scatter:
      builder.reduce_scatter();
      break;
    case CollectiveKind::all_gather:
      builder.all_gather();
      break;
    case CollectiveKind::all_to_all:
      builder.all_to_all();
      break;
    case CollectiveKind::broadcast:
      builder.broadcast();
      break;
    case CollectiveKind::barrier:
      builder.barrier();
      break;
  }
  return builder.take();
}

}  // namespace actorflow
