// Sizes of tensors that are put together.
#pragma once

#include <cstdint>
#include <string>

namespace actorflow {

// Fails where the sizes along an axis are, together, more than any tensor has.
template <class Context>
std::int64_t sum_of_sizes(const Context& c, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    c.fail("a dimension below 2^63", std::to_string(a) + " and " + std::to_string(b) + " together");
  return sum;
}

}  // namespace actorflow
