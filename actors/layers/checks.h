// What layers ask of their inputs and settings. Each throws invalid_argument that says what was expected
// and what came.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dataflow/graph/graph.h"
#include "dataflow/values/error.h"

namespace actorflow {

void expect_positive(std::string_view layer, std::string_view what, std::int64_t value);
void expect_floating(Output x);
// int32 or int64.
void expect_ids(Output x);
void expect_rank(Output x, int rank, std::string_view axes);
void expect_rank_of_at_least(Output x, int rank);
// The size of the last axis, which must be known.
std::int64_t last_dimension(Output x);
// The shape for reshape() that differs from this one in the last dimension: -1 is the batch. All other
// dimensions must be known.
Shape with_last(const Shape& shape, std::int64_t last);
// The type of a batch of that many examples, by default of any number, of this type each.
TensorType batched(const TensorType& example, std::int64_t examples = Shape::unknown);

// The dimensions of one example, all known, behind a batch of -1.
Shape batch_of(const Shape& example);

// What `build` returns; its errors begin with "what 'name': ", those of a user's own functions too.
template <class Build>
auto built_as(std::string_view what, const std::string& name, Build&& build) {
  try {
    auto built = std::forward<Build>(build)();
    if constexpr (std::is_same_v<decltype(built), Output>)
      if (!built) throw invalid_argument("its function has returned an empty Output");
    return built;
  } catch (const std::bad_function_call&) {
    throw invalid_argument(std::string(what) + " '" + name + "' has no function, or calls an empty one");
  } catch (const Error& error) {
    throw Error(error.code(), std::string(what) + " '" + name + "': " + error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(Code::unknown, std::string(what) + " '" + name + "': " + error.what());
  }
}

}  // namespace actorflow
