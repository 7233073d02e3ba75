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

}  // namespace actorflow
