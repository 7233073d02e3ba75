// The operators of two collections: both get equally many partitions, by the bytes of both.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "actors/jobs/collection.h"
#include "actors/jobs/pipes/stage_pipes.h"

namespace actorflow {

template <class Pipe>
StageNode::MakeBody Collection<Pipe>::join_body(JoinSide side, std::shared_ptr<FoundHotKeys> hot) const {
  return [pipe = pipe_, side, hot](JobContext& job, std::size_t partitions) {
    hot->find(job, partitions);
    return [=](Part& part) {
      JoinSink<Key, Value> sink(part, partitions, hot->keys(), side);
      run_into(sink, pipe, part);
    };
  };
}

template <class Pipe>
template <JoinKind kind, class Other>
auto Collection<Pipe>::joined(const Collection<Other>& other, const char* name, Where where) const {
  static_assert(has_keys && Collection<Other>::has_keys,
                "join: expected two collections of pairs; key_by() makes them");
  using Joined = JoinPipe<Key, Value, typename Collection<Other>::Value, kind>;
  static_assert(std::is_same_v<Key, typename Collection<Other>::Key>,
                "both sides of a join have keys of one type");
  const auto op = make_operator<typename Joined::Record>(name, where);
  const auto hot = std::make_shared<FoundHotKeys>(
      [left = pipe_, right = other.pipe_, op](JobContext& job, std::size_t partitions) {
        return find_hot_keys<Key>(job, left, right, partitions, *op);
      });
  const SourceFacts ours = pipe_.facts(), theirs = other.pipe_.facts();
  auto left = std::make_shared<StageNode>(job_, plan("a shuffle by key"), ours, theirs,
                                          join_body(JoinSide::left, hot));
  auto right = std::make_shared<StageNode>(job_, other.plan("a shuffle by key"), theirs, ours,
                                           other.join_body(JoinSide::right, hot));
  return with(Joined{{left, right, op}, hot});
}

template <class Pipe>
template <class Other>
auto Collection<Pipe>::join(const Collection<Other>& other, Where where) const {
  return joined<JoinKind::inner>(other, "join", where);
}

template <class Pipe>
template <class Other>
auto Collection<Pipe>::left_join(const Collection<Other>& other, Where where) const {
  return joined<JoinKind::left>(other, "left_join", where);
}

template <class Pipe>
template <class Other>
auto Collection<Pipe>::outer_join(const Collection<Other>& other, Where where) const {
  return joined<JoinKind::outer>(other, "outer_join", where);
}

template <class Pipe>
template <class Other, class F>
auto Collection<Pipe>::co_group(const Collection<Other>& other, F f, Where where) const {
  static_assert(has_keys && Collection<Other>::has_keys,
                "co_group: expected two collections of pairs; key_by() makes them");
  using W = typename Collection<Other>::Value;
  static_assert(
      std::invocable<F&, const Key&, GroupValues<Key, Value>&, GroupValues<Key, W>&>,
      "co_group: expected a function of a key and two ranges of values (auto& lefts, auto& rights)");
  using Grouped = CoGroupPipe<Key, Value, W, F>;
  static_assert(std::is_same_v<Key, typename Collection<Other>::Key>,
                "both sides of co_group have keys of one type");
  return with(Grouped{sides_by_key(other, make_operator<typename Grouped::Record>("co_group", where)),
                      std::move(f)});
}

template <class Pipe>
template <class Other>
auto Collection<Pipe>::semi_join(const Collection<Other>& other, Where where) const {
  return matched<true>(other, "semi_join", where);
}

template <class Pipe>
template <class Other>
auto Collection<Pipe>::anti_join(const Collection<Other>& other, Where where) const {
  return matched<false>(other, "anti_join", where);
}

template <class Pipe>
template <bool wanted, class Other>
auto Collection<Pipe>::matched(const Collection<Other>& other, const char* name, Where where) const {
  static_assert(has_keys && Collection<Other>::has_keys,
                "semi_join and anti_join: expected two collections of pairs; key_by() makes them");
  static_assert(std::is_same_v<Key, typename Collection<Other>::Key>,
                "both sides of semi_join and anti_join have keys of one type");
  const auto keys = other.map(
      [](typename Collection<Other>::Record record) {
        return std::pair<Key, std::uint8_t>(std::move(record.first), 0);
      },
      where);
  using Matched = MatchPipe<Key, Value, std::uint8_t, wanted>;
  return with(Matched{sides_by_key(keys, make_operator<typename Matched::Record>(name, where))});
}

// Both sides by key, in equally many partitions.
template <class Pipe>
template <class Other>
TwoPartitionsSource Collection<Pipe>::sides_by_key(const Collection<Other>& other,
                                                   OperatorRef op) const {
  using W = typename Collection<Other>::Value;
  const SourceFacts ours = pipe_.facts(), theirs = other.pipe_.facts();
  auto left = std::make_shared<StageNode>(job_, plan("a shuffle by key"), ours, theirs,
                                          body_of<HashSink<Key, Value>>());
  auto right = std::make_shared<StageNode>(job_, other.plan("a shuffle by key"), theirs, ours,
                                           other.template body_of<HashSink<Key, W>>());
  return {left, right, std::move(op)};
}

}  // namespace actorflow
