#include "dataflow/collectives/host_chain.h"

#include <algorithm>
#include <utility>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

using enum ScheduleStep::Action;
using Pieces = std::vector<Piece>;

// Chunks travel in the order of their numbers' reversed bits: 0, 4, 2, 6, 1, 5, 3, 7. So those that are
// under way at a time are of all owners of each host, however many these are. In ascending order two
// owners would send at once what the same owner of a smaller host has to add.
int turn_of(int chunk) {
  int reversed = 0;
  for (int bit = 1; bit < most_chunks; bit *= 2) reversed = 2 * reversed + ((chunk & bit) != 0 ? 1 : 0);
  return reversed;
}

class HostChain {
 public:
  HostChain(const std::vector<int>& hosts, int chunks, int rank) : chunks_(chunks), rank_(rank) {
    for (const int size : hosts) {
      if (rank >= ranks_ && rank < ranks_ + size) place_ = hosts_.size();
      hosts_.push_back({ranks_, size});
      ranks_ += size;
    }
    ACTORFLOW_CHECK(rank < ranks_, "a rank of these hosts");
  }

  RankSchedule take() {
    exchange_contributions();
    for (const int chunk : in_turn(rank_)) add_up(chunk);
    if (!is_last())
      for (const int chunk : in_turn(rank_)) {
        step(receive, owner(before(), chunk), {result(chunk)});
        if (place_ + 2 < hosts_.size()) step(send, owner(next(), chunk), {result(chunk)});
        share(chunk);
      }
    each_mate([this](int mate) {
      for (const int chunk : in_turn(mate)) step(receive, mate, {result(chunk)});
    });
    return std::move(steps_);
  }

 private:
  struct Host {
    int first, size;
  };

  const Host& own() const { return hosts_[place_]; }
  const Host& before() const { return hosts_[(place_ + hosts_.size() - 1) % hosts_.size()]; }
  const Host& next() const { return hosts_[(place_ + 1) % hosts_.size()]; }
  bool is_last() const { return place_ + 1 == hosts_.size(); }
  Piece result(int chunk) const { return {chunk, 0, ranks_ - 1}; }
  void step(ScheduleStep::Action action, int peer, Pieces pieces) {
    steps_.push_back({action, peer, std::move(pieces)});
  }

  int owner(const Host& host, int chunk) const {
    int local = 0;
    while (chunk >= slice_begin(chunks_, host.size, local + 1)) ++local;
    return host.first + local;
  }
  // The other ranks of this host, beginning with the next one, so that not all send to one at once.
  template <class Body>
  void each_mate(Body body) const {
    for (int i = 1; i < own().size; ++i) body(own().first + (rank_ - own().first + i) % own().size);
  }
  // What a rank of this host owns, which lies together.
  std::vector<int> chunks_of(int mate) const {
    const int local = mate - own().first;
    const auto end = slice_begin(chunks_, own().size, local + 1);
    std::vector<int> chunks;
    for (auto chunk = slice_begin(chunks_, own().size, local); chunk < end; ++chunk)
      chunks.push_back(static_cast<int>(chunk));
    return chunks;
  }
  std::vector<int> in_turn(int mate) const {
    std::vector<int> chunks = chunks_of(mate);
    std::ranges::sort(chunks, {}, turn_of);
    return chunks;
  }
  Pieces contribution(int of, int to) const {
    Pieces pieces;
    for (const int chunk : chunks_of(to)) pieces.push_back({chunk, of, of});
    return pieces;
  }

  void exchange_contributions() {
    each_mate([this](int mate) { step(send, mate, contribution(rank_, mate)); });
    each_mate([this](int mate) { step(receive, mate, contribution(mate, rank_)); });
  }

  void add_up(int chunk) {
    Pieces parts;
    if (place_ > 0) {
      parts.push_back({chunk, 0, own().first - 1});
      step(receive, owner(before(), chunk), parts);
    }
    const int end = own().first + own().size;
    for (int rank = own().first; rank < end; ++rank) parts.push_back({chunk, rank, rank});
    if (parts.size() > 1) step(add, 0, std::move(parts));
    if (hosts_.size() > 1) step(send, owner(next(), chunk), {{chunk, 0, end - 1}});
    if (is_last()) share(chunk);
  }

  void share(int chunk) {
    each_mate([&](int mate) { step(send, mate, {result(chunk)}); });
  }

  const int chunks_;
  const int rank_;
  int ranks_ = 0;
  std::vector<Host> hosts_;
  std::size_t place_ = 0;  // of our host among them
  RankSchedule steps_;
};

}  // namespace

RankSchedule make_host_chain(const std::vector<int>& hosts, int chunks, int rank) {
  return HostChain(hosts, chunks, rank).take();
}

}  // namespace actorflow
