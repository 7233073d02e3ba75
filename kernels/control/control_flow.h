// Conditions and loops in a graph.
//
//   Output safe = cond(x > 0, [&] { return log(x); }, [&] { return zeros_like(x); });
//
//   // The smallest power of 2 that is at least n.
//   Output power = while_loop([&](auto& v) { return v[0] < n; }, [](auto& v) { return v[0] * 2; }, one);
//
// The functions add nodes to the graph, and may use any tensor of it. What they add belongs to the
// condition or loop, which is one node of the step: on one device, and without effects. So variables are
// read inside, but made and assigned outside. Results that depend on a branch or an iteration have the
// dtype of the other branch, or of the variable before; where shapes differ, a dimension is unknown.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

using Branch = std::function<std::vector<Output>()>;

// The results of `then` where the predicate, a bool scalar, holds, else those of `otherwise`; nothing is
// computed of the other. The gradient computes the chosen branch again. Throws invalid_argument for
// branches with different numbers of results or different dtypes, and what capture() of
// dataflow/graph/subgraph.h throws.
std::vector<Output> cond(Output predicate, const Branch& then, const Branch& otherwise);
Output cond(Output predicate, const std::function<Output()>& then,
            const std::function<Output()>& otherwise);

using LoopVariables = std::vector<Output>;
using LoopCondition = std::function<Output(const LoopVariables&)>;
using LoopBody = std::function<LoopVariables(const LoopVariables&)>;

struct LoopOptions {
  // A loop that has not ended after so many iterations fails with out_of_range.
  std::int64_t max_iterations = 1'000'000;
};

// Computes variables = body(variables) as long as condition(variables), a bool scalar, holds. Returns
// the last ones. The functions are called once more where the shape of a variable changes. The gradient
// keeps the variables of each iteration, and computes the body again; its own gradient is not
// implemented. Throws as cond() does, and for a variable that changes its dtype.
LoopVariables while_loop(const LoopCondition& condition, const LoopBody& body,
                         const LoopVariables& initial, const LoopOptions& options = {});
// The same of one variable.
template <std::invocable<LoopVariables> Body>
requires std::convertible_to<std::invoke_result_t<Body, LoopVariables>, Output> Output
while_loop(const LoopCondition& condition, Body body, Output initial, const LoopOptions& options = {}) {
  const LoopBody one = [&body](const LoopVariables& v) { return LoopVariables{body(v)}; };
  return while_loop(condition, one, LoopVariables{initial}, options)[0];
}

}  // namespace actorflow
