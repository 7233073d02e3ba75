// The operators of Collection that sort.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include "actors/jobs/collection.h"
#include "actors/jobs/partitions/sorted.h"

namespace actorflow {

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

template <class Pipe>
template <class KeyOf>
auto Collection<Pipe>::sort_values_by(KeyOf key_of, SortOrder order, Where where) const {
  static_assert(has_keys, "sort_values_by: expected a collection of pairs; key_by() makes one");
  static_assert(std::invocable<const KeyOf&, const Value&>,
                "sort_values_by: expected a function, or a pointer to a member, that gives what a value "
                "is sorted by");
  using Sorted = SortedValuesPipe<Key, Value, KeyOf>;
  const auto op = make_operator<Record>("sort_values_by", where);
  auto stage = stage_of("a shuffle by key", 0, body_of<HashSink<Key, Value>>());
  return with(
      Sorted{{stage, op}, typename Sorted::Order(KeyOrder<Value, KeyOf>(std::move(key_of), order, op))});
}

template <class Pipe>
template <class... Columns>
auto Collection<Pipe>::window(Columns... columns) const {
  static_assert(Grouped<Pipe>,
                "window: expected pairs whose values are sorted; sort_values_by() sorts them");
  static_assert(sizeof...(Columns) > 0 && (WindowColumn<Columns> && ...),
                "window: expected columns such as row_number() or running_sum(), of windows.h");
  using Windows = WindowPipe<Pipe, Columns...>;
  std::tuple all(std::move(columns)...);  // by where the first was made: no argument can follow them
  const auto op = make_operator<typename Windows::Record>("window", std::get<0>(all).where);
  return with(Windows{{pipe_, op}, std::move(all)});
}

}  // namespace actorflow
