// The operators of Collection.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/collection.h"
#include "actors/jobs/pipes/pipes.h"
#include "actors/jobs/pipes/stage_pipes.h"
#include "actors/jobs/sinks/folds.h"

namespace actorflow {

// What an operator expects of its arguments is asserted first, so that a compiler's first error says it.

// Narrow ones.

template <class Pipe>
template <class Step>
auto Collection<Pipe>::then(Step step) const {
  return with(StepPipe<Pipe, Step>{pipe_, std::move(step)});
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::map(F f, Where where) const {
  static_assert(std::invocable<F&, Record&&>, "map: expected a function of the collection's records");
  using Step = MapStep<Record, F>;
  return then(Step{std::move(f), make_operator<typename Step::Record>("map", where)});
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::filter(F f, Where where) const {
  static_assert(std::predicate<F&, const Record&>,
                "filter: expected a function of the collection's records that gives a bool");
  return then(FilterStep<Record, F>{std::move(f), make_operator<Record>("filter", where)});
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::flat_map(F f, Where where) const {
  static_assert(std::invocable<F&, Record&&>,
                "flat_map: expected a function of the collection's records");
  static_assert(
      std::ranges::range<std::invoke_result_t<F&, Record&&>>,
      "flat_map: expected a function that gives a range of records, such as a std::vector; for "
      "one record there is map()");
  using Step = FlatMapStep<Record, F>;
  return then(Step{std::move(f), make_operator<typename Step::Record>("flat_map", where)});
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::key_by(F f, Where where) const {
  static_assert(std::invocable<F&, const Record&>,
                "key_by: expected a function of the collection's records");
  auto pair = [f = std::move(f)](Record record) {
    auto key = std::invoke(f, std::as_const(record));
    return std::pair<decltype(key), Record>(std::move(key), std::move(record));
  };
  using Step = MapStep<Record, decltype(pair)>;
  return then(Step{std::move(pair), make_operator<typename Step::Record>("key_by", where)});
}

template <class Pipe>
template <class Other>
auto Collection<Pipe>::union_with(const Collection<Other>& other, Where where) const {
  return with(UnionPipe<Pipe, Other>{pipe_, other.pipe(), make_operator<Record>("union_with", where)});
}

// Stages.

template <class Pipe>
PlanStage Collection<Pipe>::plan(std::string gives) const {
  PlanStage plan;
  pipe_.describe(plan);
  plan.gives = std::move(gives);
  return plan;
}

template <class Pipe>
StageNodeRef Collection<Pipe>::stage_of(std::string gives, std::size_t partitions,
                                        StageNode::MakeBody make_body) const {
  return std::make_shared<StageNode>(job_, plan(std::move(gives)), pipe_.facts(), partitions,
                                     std::move(make_body));
}

// The body of a stage that passes all records to a Sink(part, partitions, arguments...).
template <class Pipe>
template <class Sink, class... Arguments>
StageNode::MakeBody Collection<Pipe>::body_of(Arguments... arguments) const {
  return [pipe = pipe_, ... arguments = std::move(arguments)](JobContext&, std::size_t partitions) {
    return [=](Part& part) {
      Sink sink(part, partitions, arguments...);
      run_into(sink, pipe, part);
    };
  };
}

template <class Pipe>
auto Collection<Pipe>::cache(Where where) const {
  auto stage = stage_of("records that are kept", 1, body_of<DealSink<Record>>());
  return with(KeptPipe<Record>{{stage, make_operator<Record>("cache", where)}});
}

template <class Pipe>
auto Collection<Pipe>::zip_with_index(Where where) const {
  auto kept = cache(where);
  return kept.with(NumberedPipe<Record>{
      {kept.pipe().stage, make_operator<std::pair<std::int64_t, Record>>("zip_with_index", where)}});
}

template <class Pipe>
auto Collection<Pipe>::partition_by(std::size_t parts, Where where) const {
  auto stage =
      stage_of("a shuffle in turn", std::max<std::size_t>(parts, 1), body_of<DealSink<Record>>());
  return with(PartitionPipe<Record>{{stage, make_operator<Record>("partition_by", where)}});
}

template <class Pipe>
template <class KeyOf>
requires(!std::integral<KeyOf>) auto Collection<Pipe>::partition_by(KeyOf key_of, std::size_t parts,
                                                                    Where where) const {
  const auto op = make_operator<Record>("partition_by", where);
  auto stage =
      stage_of("a shuffle by key", parts, body_of<KeySink<Record, KeyOf>>(std::move(key_of), op));
  return with(PartitionPipe<Record>{{stage, op}});
}

// By key.

template <class Pipe>
template <class State, class Begin, class Add, class Merge>
auto Collection<Pipe>::combined(const char* kind, Begin begin, Add add, Merge merge, Where where) const {
  const auto op = make_operator<std::pair<Key, State>>(kind, where);
  using Sink = CombineSink<Key, Value, State, Begin, Add>;
  auto stage =
      stage_of("a shuffle by key, combined", 0, body_of<Sink>(std::move(begin), std::move(add), op));
  return with(ReducePipe<Key, State, Merge>{{stage, op}, std::move(merge)});
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::reduce_by_key(F f, Where where) const {
  static_assert(has_keys, "reduce_by_key: expected a collection of pairs; key_by() makes one");
  static_assert(Folds<F, StoredRecord<Value>, Value>,
                "reduce_by_key: expected a function of two values that gives one, or that takes the "
                "first by reference, changes it and gives nothing");
  const auto begin = [](Value value) { return stored(value); };
  return combined<StoredRecord<Value>>("reduce_by_key", begin, f, f, where);
}

template <class Pipe>
template <class State, class F, class Merge>
auto Collection<Pipe>::fold_by_key(State initial, F f, Merge merge, Where where) const {
  static_assert(has_keys, "fold_by_key: expected a collection of pairs; key_by() makes one");
  static_assert(require_record<State>());
  static_assert(Folds<F, State, Value>,
                "fold_by_key: expected a function of a state and a value that gives the new state, or "
                "that takes State&, changes it and gives nothing");
  static_assert(Folds<Merge, State, State>,
                "fold_by_key: expected a function of two states that gives one, or that takes the first "
                "by reference, changes it and gives nothing");
  auto begin = [initial = std::move(initial), f](Value value) mutable -> State {
    State state = initial;
    fold_value(f, state, std::move(value));
    return state;
  };
  return combined<State>("fold_by_key", std::move(begin), f, std::move(merge), where);
}

template <class Pipe>
auto Collection<Pipe>::count_by_key(Where where) const {
  static_assert(has_keys, "count_by_key: expected a collection of pairs; key_by() makes one");
  return map([](Record record) { return std::pair<Key, std::int64_t>(std::move(record.first), 1); },
             where)
      .reduce_by_key(std::plus<>(), where);
}

template <class Pipe>
auto Collection<Pipe>::distinct(Where where) const {
  return map([](Record record) { return std::pair<Record, std::uint8_t>(std::move(record), 0); }, where)
      .reduce_by_key([](std::uint8_t a, std::uint8_t) { return a; }, where)
      .map([](auto pair) { return std::move(pair.first); }, where);
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::group_by_key(F f, Where where) const {
  static_assert(has_keys, "group_by_key: expected a collection of pairs; key_by() makes one");
  static_assert(std::invocable<F&, const Key&, GroupValues<Key, Value>&>,
                "group_by_key: expected a function of a key and a range of values (auto& values)");
  using Grouped = GroupPipe<Key, Value, F>;
  auto stage = stage_of("a shuffle by key", 0, body_of<HashSink<Key, Value>>());
  return with(
      Grouped{{stage, make_operator<typename Grouped::Record>("group_by_key", where)}, std::move(f)});
}

template <class Pipe>
auto Collection<Pipe>::group_by_key(Where where) const {
  static_assert(has_keys, "group_by_key: expected a collection of pairs; key_by() makes one");
  using K = Key;
  using V = Value;
  return group_by_key(
      [](const K& key, const auto& values) {
        using Stored = StoredRecord<V>;
        std::pair<StoredRecord<K>, std::vector<Stored>> group{stored(key), {}};
        Part& part = *Part::current();
        std::size_t held = 0;  // by the values, besides themselves
        for (const V& value : values) {
          Stored copy = stored(value);
          held += heap_bytes(copy);
          group.second.push_back(std::move(copy));
          const std::size_t bytes = group.second.capacity() * sizeof(Stored) + held;
          if (bytes > part.most_record_bytes())
            part.expect_room_for(bytes, ("the group of the key " + key_text(key)).c_str());
        }
        return group;
      },
      where);
}

// Of two collections: both get equally many partitions, by the bytes of both.

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

// Sorting.

template <class Pipe>
template <class KeyOf>
auto Collection<Pipe>::sort_by(KeyOf key_of, SortOrder order, Where where) const {
  static_assert(std::invocable<const KeyOf&, const Record&>,
                "sort_by: expected a function, or a pointer to a member, that gives a record's key");
  if constexpr (!Pipe::is_cheap)
    return cache(where).sort_by(std::move(key_of), order, where);
  else
    return sorted(make_operator<Record>("sort_by", where), std::move(key_of), order);
}

template <class Pipe>
template <class KeyOf>
auto Collection<Pipe>::sorted(OperatorRef op, KeyOf key_of, SortOrder direction) const {
  using Order = KeyOrder<Record, KeyOf>;
  const Order order(std::move(key_of), direction, op);
  auto stage =
      stage_of("a shuffle by ranges of keys", 0,
               [pipe = pipe_, order, op](JobContext& job, std::size_t partitions) {
                 auto sample = partitions > 1 ? sample_splitters(job, pipe, order, *op)
                                              : decltype(sample_splitters(job, pipe, order, *op))();
                 const auto splitters =
                     std::make_shared<const Splitters<Order>>(order, std::move(sample), partitions);
                 return [=](Part& part) {
                   RangeSink<Record, Order> sink(part, part.index(), partitions, *splitters);
                   run_into(sink, pipe, part);
                 };
               });
  return with(SortedPipe<Record, Order>{{stage, op}, order});
}

}  // namespace actorflow
