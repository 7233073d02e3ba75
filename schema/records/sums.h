// Sums of records, and their mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "schema/records/record.h"

namespace actorflow {
namespace detail {

// Throws invalid_argument.
[[noreturn, gnu::cold]] void throw_unequal_vectors(std::size_t expected, std::size_t got);

// Calls f(number, other) for each number of a record and the one in its place in another record.
template <class T, class F>
void visit_numbers(T& record, const T& other, const F& f) {
  constexpr RecordKind kind = record_kind<T>();
  if constexpr (kind == RecordKind::array || kind == RecordKind::vector) {
    if (record.size() != other.size()) throw_unequal_vectors(record.size(), other.size());
    for (std::size_t i = 0; i < record.size(); ++i) visit_numbers(record[i], other[i], f);
  } else if constexpr (kind == RecordKind::fields) {
    const auto tie = [](auto&... field) { return std::tie(field...); };
    const auto fields = visit_fields(record, tie);
    const auto others = visit_fields(other, tie);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (visit_numbers(std::get<i>(fields), std::get<i>(others), f), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(others)>>());
  } else {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>,
                  "sums are of numbers, and of std::arrays, std::vectors, pairs, tuples and structs of "
                  "them");
    f(record, other);
  }
}

}  // namespace detail

// Adds records number by number, those of std::arrays, std::vectors, pairs, tuples and structs, as in
// reduce_by_key(AddFields()). Throws invalid_argument for std::vectors of different sizes.
struct AddFields {
  template <Record T>
  void operator()(T& sum, const T& other) const {
    detail::visit_numbers(sum, other, [](auto& number, auto added) {
      number = static_cast<decltype(added)>(number + added);
    });
  }
};

// The sum of some records, and how many they are. A record itself, so that a job may fold into it.
template <class T>
struct MeanOf {
  T sum{};
  std::int64_t count = 0;

  void add(const T& record) {
    AddFields()(sum, record);
    ++count;
  }
  // REQUIRES: count > 0, and that the numbers are floating-point.
  T value() const {
    T mean = sum;
    detail::visit_numbers(mean, sum, [n = count](auto& number, auto total) {
      static_assert(std::is_floating_point_v<decltype(total)>,
                    "the mean of integers: add them as floating-point numbers");
      number = static_cast<decltype(total)>(total / static_cast<decltype(total)>(n));
    });
    return mean;
  }
};

}  // namespace actorflow
