// The operators of Collection that take the records one by one.
#pragma once

#include <concepts>
#include <functional>
#include <ranges>
#include <type_traits>
#include <utility>

#include "actors/jobs/collection.h"
#include "actors/jobs/pipes/pipes.h"

namespace actorflow {

// What an operator expects of its arguments is asserted first, so that a compiler's first error says it.

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

}  // namespace actorflow
