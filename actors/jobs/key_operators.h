// The operators of Collection that bring the pairs of a key together.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/collection.h"
#include "actors/jobs/partitions/groups.h"
#include "actors/jobs/sinks/folds.h"
#include "actors/jobs/sorting/best_of_key.h"

namespace actorflow {

// Pairs that come key by key are folded as they come, without a shuffle.
template <class Pipe>
template <class State, class Begin, class Add, class Merge>
auto Collection<Pipe>::combined(const char* kind, Begin begin, Add add, Merge merge, Where where) const {
  const auto op = make_operator<std::pair<Key, State>>(kind, where);
  if constexpr (Grouped<Pipe>) {
    using Folded = FoldGroupsPipe<Pipe, State, Begin, Add>;
    return with(Folded{{pipe_, op}, std::move(begin), std::move(add)});
  } else {
    using Sink = CombineSink<Key, Value, State, Begin, Add>;
    auto stage =
        stage_of("a shuffle by key, combined", 0, body_of<Sink>(std::move(begin), std::move(add), op));
    return with(ReducePipe<Key, State, Merge>{{stage, op}, std::move(merge)});
  }
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
template <class KeyOf>
auto Collection<Pipe>::best_by_key(const char* kind, std::size_t n, KeyOf key_of, SortOrder order,
                                   Where where) const {
  using Stored = StoredRecord<Value>;
  using Values = std::vector<Stored>;
  const KeyOrder<Stored, KeyOf> by(std::move(key_of), order, make_operator<Record>(kind, where));
  const BestOfKey<Stored, KeyOf> best(n, by);
  return combined<Values>(
      kind,
      [best](Value value) {
        Values first;
        best.add(first, stored(value));
        return first;
      },
      [best](Values& values, Value value) { best.add(values, stored(value)); },
      [best](Values& values, Values later) { best.merge(values, std::move(later)); }, where);
}

template <class Pipe>
template <class KeyOf>
auto Collection<Pipe>::top_by_key(std::size_t n, KeyOf key_of, Where where) const {
  static_assert(has_keys, "top_by_key: expected a collection of pairs; key_by() makes one");
  static_assert(std::invocable<const KeyOf&, const StoredRecord<Value>&>,
                "top_by_key: expected a function, or a pointer to a member, that gives what a value is "
                "sorted by");
  return best_by_key("top_by_key", n, std::move(key_of), SortOrder::descending, where);
}

template <class Pipe>
template <class KeyOf>
auto Collection<Pipe>::bottom_by_key(std::size_t n, KeyOf key_of, Where where) const {
  static_assert(has_keys, "bottom_by_key: expected a collection of pairs; key_by() makes one");
  static_assert(std::invocable<const KeyOf&, const StoredRecord<Value>&>,
                "bottom_by_key: expected a function, or a pointer to a member, that gives what a value "
                "is sorted by");
  return best_by_key("bottom_by_key", n, std::move(key_of), SortOrder::ascending, where);
}

// A pipe of the pairs key by key: this one, or one behind a shuffle.
template <class Pipe>
auto Collection<Pipe>::grouped() const {
  if constexpr (Grouped<Pipe>)
    return pipe_;
  else
    return HashedPipe<Key, Value>{
        {stage_of("a shuffle by key", 0, body_of<HashSink<Key, Value>>()), nullptr}};
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::group_by_key(F f, Where where) const {
  static_assert(has_keys, "group_by_key: expected a collection of pairs; key_by() makes one");
  using Before = decltype(grouped());
  using Values = GroupValues<Key, Value, typename GroupsReader<Before>::Groups>;
  static_assert(std::invocable<F&, const Key&, Values&>,
                "group_by_key: expected a function of a key and a range of values (auto& values)");
  using Groups = GroupPipe<Before, F>;
  return with(
      Groups{{grouped(), make_operator<typename Groups::Record>("group_by_key", where)}, std::move(f)});
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

}  // namespace actorflow
