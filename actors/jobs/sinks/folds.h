// Functions that fold values into a state: f(state, value) gives the new state or, if it gives nothing,
// changes the state that it is given, which takes no copy of a large one.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "actors/jobs/engine/parts/operator_failure.h"

namespace actorflow {

// A function that takes the state by value, or const, and gives nothing would change nothing: it may be
// called with a temporary state, which State& may not.
template <class F, class State, class Value>
concept FoldsInPlace =
    !std::invocable<F&, State&&, Value> && requires(F & f, State& state, Value&& value) {
  { f(state, std::forward<Value>(value)) } -> std::same_as<void>;
};

template <class F, class State, class Value>
concept Folds = FoldsInPlace<F, State, Value> || requires(F& f, State& state, Value&& value) {
  state = f(std::move(state), std::forward<Value>(value));
};

template <class State, class F, class Value>
void fold_value(F& f, State& state, Value&& value) {
  if constexpr (FoldsInPlace<F, State, Value>)
    f(state, std::forward<Value>(value));
  else
    state = f(std::move(state), std::forward<Value>(value));
}

// Folds a value into a state by the user's function, on behalf of its operator.
template <class State, class F, class Value>
void fold_value(const PlanOperator& op, F& f, State& state, Value&& value) {
  call_user(op, [&] { fold_value(f, state, std::forward<Value>(value)); });
}

}  // namespace actorflow
