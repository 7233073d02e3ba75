// Schedules: what each rank sends, receives and adds in a collective operation, and in which order.
//
// Algorithms: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations
// in MPICH" (2005), sections 4 and 5; J. Bruck et al., "Efficient Algorithms for All-to-All
// Communications" (1997). Their sums are in the order of ranks here: README.md.
#pragma once

#include <cstdint>
#include <vector>

#include "dataflow/collectives/agreement.h"

namespace actorflow {

// A slice of the tensor, summed over the ranks `first` to `last` in this order. What is moved and not
// summed has the rank that it comes from as both.
struct Piece {
  int slice = 0;
  int first = 0;
  int last = 0;

  auto operator<=>(const Piece&) const = default;
};

// Whether it is a sum of several ranks, but not of all.
constexpr bool is_unfinished(const Piece& piece, int ranks) {
  return piece.first < piece.last && piece.last - piece.first + 1 < ranks;
}

struct ScheduleStep {
  enum class Action : std::uint8_t {
    send,  // sends one message with the pieces to `peer`; without pieces it only says that this step was
           // reached
    receive,  // the next message of `peer`, which has these pieces
    add,      // adds the pieces, which are of one slice and of consecutive ranks, into one
  };
  Action action = Action::send;
  int peer = 0;
  std::vector<Piece> pieces{};

  bool operator==(const ScheduleStep&) const = default;
};

// A rank carries out its steps in their order. Sending never waits. Messages between two ranks are
// counted, so they may arrive in any order.
using RankSchedule = std::vector<ScheduleStep>;

// The operation's shape, apart from its bytes.
struct SchedulePlan {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 1;
  int root = 0;
  // The algorithm of an all-reduce or all-gather; the other operations have only one.
  Algorithm algorithm = Algorithm::direct;
  int chunks = 1;  // of a ring's or a hierarchical all-reduce
  // Of a hierarchical all-reduce: the numbers of ranks of the hosts, in the order of ranks.
  std::vector<int> hosts{};
};

// More would be messages too small to be worth their time.
inline constexpr int most_chunks = 4096;
// Throws invalid_argument for chunks or hosts that no all-reduce of so many ranks can have.
void check_plan(const SchedulePlan& plan);

// The number of slices that an operation works on. An all-reduce cuts its tensor as the algorithm needs
// it; a reduce-scatter has one slice per rank; in an all-gather slice r is the tensor of rank r, in an
// all-to-all slice r * ranks + d is what rank r sends to rank d.
int slices_of(const SchedulePlan& plan);
// What a rank has at the beginning.
std::vector<Piece> contributions(const SchedulePlan& plan, int rank);
// What a rank has at the end, in the order of slices.
std::vector<Piece> results(const SchedulePlan& plan, int rank);
// REQUIRES: a rank of the plan; an algorithm other than automatic, for an all-gather not rabenseifner.
RankSchedule make_schedule(const SchedulePlan& plan, int rank);

// Where slice `i` of `count` begins in `size` elements; the first ones have one element more where it
// does not come out even.
constexpr std::int64_t slice_begin(std::int64_t size, int count, int i) {
  return size / count * i + (i < size % count ? i : size % count);
}

}  // namespace actorflow
