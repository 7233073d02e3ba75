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
auto Collection<Pipe>::keys(Where where) const {
  static_assert(has_keys, "keys: expected a collection of pairs; key_by() makes one");
  return map([](Record pair) { return std::move(pair.first); }, where);
}

template <class Pipe>
auto Collection<Pipe>::values(Where where) const {
  static_assert(has_keys, "values: expected a collection of pairs; key_by() makes one");
  return map([](Record pair) { return std::move(pair.second); }, where);
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::map_values(F f, Where where) const {
  static_assert(has_keys, "map_values: expected a collection of pairs; key_by() makes one");
  static_assert(std::invocable<F&, Value&&>, "map_values: expected a function of the pairs' values");
  using Step = MapValuesStep<Key, Value, F>;
  return then(Step{std::move(f), make_operator<typename Step::Record>("map_values", where)});
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::filter_values(F f, Where where) const {
  static_assert(has_keys, "filter_values: expected a collection of pairs; key_by() makes one");
  static_assert(std::predicate<F&, const Value&>,
                "filter_values: expected a function of the pairs' values that gives a bool");
  auto of_pair = [f = std::move(f)](const Record& pair) mutable -> bool {
    return std::invoke(f, pair.second);
  };
  return then(FilterStep<Record, decltype(of_pair)>{std::move(of_pair),
                                                    make_operator<Record>("filter_values", where)});
}

template <class Pipe>
template <class F>
auto Collection<Pipe>::flat_map_values(F f, Where where) const {
  static_assert(has_keys, "flat_map_values: expected a collection of pairs; key_by() makes one");
  static_assert(std::invocable<F&, Value&>, "flat_map_values: expected a function of the pairs' values");
  static_assert(std::ranges::range<std::invoke_result_t<F&, Value&>>,
                "flat_map_values: expected a function that gives a range of values, such as a "
                "std::vector; for one value there is map_values()");
  using Element = std::decay_t<std::ranges::range_reference_t<std::invoke_result_t<F&, Value&>>>;
  auto pairs = [f = std::move(f)](Record&& pair) mutable {
    return std::views::transform(std::invoke(f, pair.second), [&key = pair.first](auto&& element) {
      return std::pair<Key, Element>(key, std::forward<decltype(element)>(element));
    });
  };
  using Step = FlatMapStep<Record, decltype(pairs)>;
  return then(Step{std::move(pairs), make_operator<typename Step::Record>("flat_map_values", where)});
}

template <class Pipe>
template <class Other>
auto Collection<Pipe>::union_with(const Collection<Other>& other, Where where) const {
  return with(UnionPipe<Pipe, Other>{pipe_, other.pipe(), make_operator<Record>("union_with", where)});
}

}  // namespace actorflow
