// Columns of Collection::window(): what a value's place among the sorted values of its key says of it.
//
//   trades.key_by(&Trade::stock)
//       .sort_values_by(&Trade::time)
//       .window(row_number(), running_sum(&Trade::volume), lag(&Trade::price))
//
// `of` is a function of a value, or a pointer to a member. Frames are of rows: equal values count one
// after the other, in the order of the input, where SQL without ROWS puts them together. A column of
// one's own: running().
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "actors/jobs/sinks/folds.h"
#include "schema/records/key_order.h"
#include "schema/records/stored_record.h"

namespace actorflow {
namespace detail {

template <class Of, class V>
using WindowOf = std::decay_t<std::invoke_result_t<const Of&, const V&>>;
// What keeps a value from one row to the next owns it.
template <class Of, class V>
using StoredOf = StoredRecord<WindowOf<Of, V>>;

// In 64 bits, where that is wider.
template <class T>
struct WideSum {
  using type = T;
};
template <std::signed_integral T>
struct WideSum<T> {
  using type = std::int64_t;
};
template <std::unsigned_integral T>
struct WideSum<T> {
  using type = std::uint64_t;
};
template <std::floating_point T>
struct WideSum<T> {
  using type = double;
};

using Where = std::source_location;

struct OfThisRow {
  Where where;  // it was made

  static constexpr std::size_t rows_ahead() { return 0; }
};

template <class State, class F>
struct RunningState {
  State state;
  F fold;

  template <class V>
  State operator()(const V& value) {
    fold_value(fold, state, value);
    return state;
  }
};
template <class State, class F>
struct Running : OfThisRow {
  State initial;
  F fold;

  template <class V>
  auto begin() const {
    static_assert(
        Folds<F, State, const V&>,
        "running: expected a function of a state and a value that gives the new state, or that "
        "takes State&, changes it and gives nothing");
    return RunningState<State, F>{initial, fold};
  }
};

template <class Of>
struct RunningSum : OfThisRow {
  Of of;

  template <class V>
  auto begin() const {
    using Sum = typename WideSum<WindowOf<Of, V>>::type;
    return [of = of, sum = Sum()](const V& value) mutable { return sum = sum + std::invoke(of, value); };
  }
};

// The smallest, or the largest.
template <class Of, bool smallest>
struct RunningExtreme : OfThisRow {
  Of of;

  template <class V>
  auto begin() const {
    using T = StoredOf<Of, V>;
    return [of = of, best = std::optional<T>()](const V& value) mutable {
      T now = stored(std::invoke(of, value));
      if (!best || (smallest ? order_of_keys(now, *best) < 0 : order_of_keys(*best, now) < 0))
        best = std::move(now);
      return *best;
    };
  }
};

struct RowNumber : OfThisRow {
  template <class V>
  auto begin() const {
    return [rows = std::int64_t{0}](const V&) mutable { return ++rows; };
  }
};

// dense: the next rank is the next number.
template <class Of, bool dense>
struct Rank : OfThisRow {
  Of of;

  template <class V>
  auto begin() const {
    using T = StoredOf<Of, V>;
    return [of = of, before = std::optional<T>(), rows = std::int64_t{0},
            rank = std::int64_t{0}](const V& value) mutable {
      T now = stored(std::invoke(of, value));
      ++rows;
      if (!before || order_of_keys(*before, now) != 0) rank = dense ? rank + 1 : rows;
      before = std::move(now);
      return rank;
    };
  }
};

template <class Of>
struct Lag : OfThisRow {
  Of of;
  std::size_t rows;

  template <class V>
  auto begin() const {
    using T = StoredOf<Of, V>;
    return [of = of, rows = rows, last = std::deque<T>()](const V& value) mutable {
      last.push_back(stored(std::invoke(of, value)));
      if (last.size() <= rows) return std::optional<T>();
      std::optional<T> earlier(std::move(last.front()));
      last.pop_front();
      return earlier;
    };
  }
};

template <class Of>
struct Lead {
  Where where;
  Of of;
  std::size_t rows;

  std::size_t rows_ahead() const { return rows; }
  template <class V>
  auto begin() const {
    using T = StoredOf<Of, V>;
    return [of = of](const V& value) { return std::optional<T>(stored(std::invoke(of, value))); };
  }
};

}  // namespace detail

// 1, 2, ...; so it is a running count, too.
inline auto row_number(std::source_location where = std::source_location::current()) {
  return detail::RowNumber{{where}};
}
// The row number of the first of those that are equal and stand side by side: 1, 2, 2, 4. `of`: what the
// values are sorted by.
template <class Of>
auto rank_by(Of of, std::source_location where = std::source_location::current()) {
  return detail::Rank<Of, false>{{where}, std::move(of)};
}
// The same without gaps: 1, 2, 2, 3.
template <class Of>
auto dense_rank_by(Of of, std::source_location where = std::source_location::current()) {
  return detail::Rank<Of, true>{{where}, std::move(of)};
}
// Of what came so far, this row included. A sum of integers has 64 bits; of floating-point numbers it is
// a double. Numbers and texts have a smallest and a largest one; NaN counts as the largest number.
template <class Of>
auto running_sum(Of of, std::source_location where = std::source_location::current()) {
  return detail::RunningSum<Of>{{where}, std::move(of)};
}
template <class Of>
auto running_min(Of of, std::source_location where = std::source_location::current()) {
  return detail::RunningExtreme<Of, true>{{where}, std::move(of)};
}
template <class Of>
auto running_max(Of of, std::source_location where = std::source_location::current()) {
  return detail::RunningExtreme<Of, false>{{where}, std::move(of)};
}
// Any other fold, from `initial` on: f(state, value) gives the new state, or takes State& and changes
// it.
template <class State, class F>
auto running(State initial, F f, std::source_location where = std::source_location::current()) {
  return detail::Running<State, F>{{where}, std::move(initial), std::move(f)};
}
// What it was `rows` rows before, an optional: none in the first rows. Holds so many values.
template <class Of>
auto lag(Of of, std::size_t rows = 1, std::source_location where = std::source_location::current()) {
  return detail::Lag<Of>{{where}, std::move(of), rows};
}
// What it will be `rows` rows later, an optional: none in the last rows. Holds so many rows.
template <class Of>
auto lead(Of of, std::size_t rows = 1, std::source_location where = std::source_location::current()) {
  return detail::Lead<Of>{where, std::move(of), rows};
}

}  // namespace actorflow
