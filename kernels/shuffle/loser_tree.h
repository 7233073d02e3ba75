// Merging sorted runs.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "dataflow/values/check.h"

namespace actorflow {

// A place in a sorted run. The prefix is the beginning of the record's key as a number, as in SortEntry;
// it and the record are asked for only where done() is false.
template <class Cursor>
concept RunCursor = requires(Cursor cursor, const Cursor& place) {
  { place.done() } -> std::convertible_to<bool>;
  { place.prefix() } -> std::convertible_to<std::uint64_t>;
  { place.record() } -> std::convertible_to<std::span<const std::byte>>;
  cursor.advance();
};

// A tournament tree (Knuth, The Art of Computer Programming 3, 5.4.1): each node keeps the loser of its
// match, so that a new record plays once on each level. less(a, b) compares the full keys of two records
// with equal prefixes; where neither is less the cursor that was given first is, so that the merge is
// stable. Key ranges that are disjoint can be merged at the same time by trees with cursors of their
// own. REQUIRES of all calls: one thread at a time.
template <RunCursor Cursor, class Less>
class LoserTree {
 public:
  explicit LoserTree(std::vector<Cursor> cursors, Less less = {})
      : cursors_(std::move(cursors)), less_(std::move(less)), losers_(cursors_.size()) {
    if (!cursors_.empty()) winner_ = winner_below(1);
  }

  // Whether all cursors are done.
  bool empty() const { return cursors_.empty() || done(winner_); }
  // The cursor of the least record. REQUIRES: !empty().
  const Cursor& top() const { return cursors_[winner_.source]; }
  std::uint64_t prefix() const { return winner_.prefix; }
  std::span<const std::byte> record() const { return top().record(); }
  // The number of top() among the cursors.
  std::size_t source() const { return winner_.source; }
  // Goes on to the next record, which may make the bytes of this one invalid. REQUIRES: !empty().
  void advance() {
    ACTORFLOW_CHECK(!empty(), "runs:", cursors_.size());
    cursors_[winner_.source].advance();
    Node winner = node_of(winner_.source);
    for (std::size_t i = (losers_.size() + winner_.source) / 2; i > 0; i /= 2) play(losers_[i], winner);
    winner_ = winner;
  }

 private:
  // The highest prefix where the run is done, so that most matches compare prefixes only.
  struct Node {
    std::uint64_t prefix;
    std::uint64_t source;
  };

  bool done(const Node& node) const { return ~node.prefix == 0 && cursors_[node.source].done(); }
  Node node_of(std::size_t source) const {
    const Cursor& cursor = cursors_[source];
    return {cursor.done() ? ~std::uint64_t{0} : std::uint64_t{cursor.prefix()}, source};
  }
  // Leaves are numbered after the inner nodes, from the number of runs on.
  Node winner_below(std::size_t node) {
    if (node >= losers_.size()) return node_of(node - losers_.size());
    Node winner = winner_below(2 * node);
    losers_[node] = winner_below(2 * node + 1);
    play(losers_[node], winner);
    return winner;
  }
  // Chooses without a branch, whose outcome nobody could predict.
  void play(Node& loser, Node& winner) const {
    bool swapped = loser.prefix < winner.prefix;
    if (loser.prefix == winner.prefix) [[unlikely]]
      swapped = wins_tie(loser, winner);
    const std::uint64_t mask = std::uint64_t{0} - static_cast<std::uint64_t>(swapped);
    const std::uint64_t prefix = (loser.prefix ^ winner.prefix) & mask,
                        source = (loser.source ^ winner.source) & mask;
    loser = {loser.prefix ^ prefix, loser.source ^ source};
    winner = {winner.prefix ^ prefix, winner.source ^ source};
  }
  bool wins_tie(const Node& a, const Node& b) const {
    if (done(a) || done(b)) return !done(a);
    const auto x = cursors_[a.source].record(), y = cursors_[b.source].record();
    return a.source < b.source ? !less_(y, x) : less_(x, y);
  }

  std::vector<Cursor> cursors_;
  Less less_;
  std::vector<Node> losers_;  // the first is not used
  Node winner_{};
};

}  // namespace actorflow
