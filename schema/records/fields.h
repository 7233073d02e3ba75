// The fields of pairs, tuples and plain aggregates, in their order: what the other headers of this
// folder are built on. Aggregates are taken apart by structured bindings, so their fields have no names
// here.
#pragma once

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dataflow/values/same_build.h"

namespace actorflow::detail {

constexpr std::size_t most_fields = 12;

template <class...>
struct Types {};

// Converts to the type of any field, except T itself: a record can be copied, but is no field of itself.
template <class T, std::size_t = 0>
struct AnyField {
  template <class U>
  requires(!std::is_same_v<U, T>) operator U() const noexcept;
};

template <class T>
struct AnyBase {
  template <class U>
  requires(std::is_base_of_v<U, T> && !std::is_same_v<U, T>) operator U() const noexcept;
};

template <class T, std::size_t... I>
consteval bool takes_fields(std::index_sequence<I...>) {
  return requires { T{AnyField<T, I>{}...}; };
}

// The number of fields of an aggregate; most_fields + 1 if there are more. Each element of a C array
// counts.
template <class T, std::size_t count = 0>
consteval std::size_t num_fields() {
  if constexpr (count <= most_fields && takes_fields<T>(std::make_index_sequence<count + 1>()))
    return num_fields<T, count + 1>();
  else
    return count;
}

template <class T, std::size_t... Before, std::size_t... After>
consteval bool takes_empty_field(std::index_sequence<Before...>, std::index_sequence<After...>) {
  return requires { T{AnyField<T, Before>{}..., {}, AnyField<T, After>{}...}; };
}

// A pair of braces stands for all elements of a C array, so that too many fields follow it.
template <class T, std::size_t count, std::size_t... I>
consteval bool each_is_one_field(std::index_sequence<I...>) {
  return (
      takes_empty_field<T>(std::make_index_sequence<I>(), std::make_index_sequence<count - 1 - I>()) &&
      ...);
}

template <class T>
consteval bool is_plain_class() {
  return std::is_class_v<T> && std::is_aggregate_v<T> && !std::is_polymorphic_v<T>;
}

// True if structured bindings take the aggregate apart into num_fields().
template <class T>
consteval bool has_plain_fields() {
  constexpr std::size_t count = num_fields<T>();
  if constexpr (count == 0 || count > most_fields)
    return false;
  else
    return !requires { T{AnyBase<T>{}}; }
  &&each_is_one_field<T, count>(std::make_index_sequence<count>());
}

template <class T>
constexpr bool is_pair = false;
template <class A, class B>
constexpr bool is_pair<std::pair<A, B>> = true;
template <class T>
constexpr bool is_tuple = false;
template <class... F>
constexpr bool is_tuple<std::tuple<F...>> = true;

// Calls f(field...) for the fields of an aggregate.
template <class T, class F>
constexpr decltype(auto) visit_aggregate(T& record, F&& f) {
  constexpr std::size_t count = num_fields<std::remove_const_t<T>>();
  if constexpr (count == 1) {
    auto& [a] = record;
    return f(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = record;
    return f(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = record;
    return f(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = record;
    return f(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = record;
    return f(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, g] = record;
    return f(a, b, c, d, e, g);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, g, h] = record;
    return f(a, b, c, d, e, g, h);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, g, h, i] = record;
    return f(a, b, c, d, e, g, h, i);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, g, h, i, j] = record;
    return f(a, b, c, d, e, g, h, i, j);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, g, h, i, j, k] = record;
    return f(a, b, c, d, e, g, h, i, j, k);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, g, h, i, j, k, l] = record;
    return f(a, b, c, d, e, g, h, i, j, k, l);
  } else {
    static_assert(count == 12);
    auto& [a, b, c, d, e, g, h, i, j, k, l, m] = record;
    return f(a, b, c, d, e, g, h, i, j, k, l, m);
  }
}

// Calls f(field...) for the fields of a pair, a tuple or an aggregate.
template <class T, class F>
constexpr decltype(auto) visit_fields(T& record, F&& f) {
  if constexpr (is_pair<std::remove_const_t<T>>)
    return f(record.first, record.second);
  else if constexpr (is_tuple<std::remove_const_t<T>>)
    return std::apply(f, record);
  else
    return visit_aggregate(record, f);
}

struct ListTypes {
  template <class... F>
  constexpr Types<F...> operator()(F&...) const {
    return {};
  }
};

template <class T>
struct FieldTypesOf {
  using type = decltype(visit_aggregate(std::declval<T&>(), ListTypes()));
};
template <class A, class B>
struct FieldTypesOf<std::pair<A, B>> {
  using type = Types<A, B>;
};
template <class... F>
struct FieldTypesOf<std::tuple<F...>> {
  using type = Types<F...>;
};
template <class T>
using FieldTypes = typename FieldTypesOf<T>::type;

}  // namespace actorflow::detail
