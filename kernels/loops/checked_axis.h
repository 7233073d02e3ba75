// The attribute `axis` of an op.
#pragma once

#include <cstdint>
#include <string>

namespace actorflow {

// The axis counted from the front: 0 <= axis < rank. Fails for one outside of the tensor. Context is
// that of a shape function or of a kernel, which say what is wrong in terms of the node.
template <class Context>
int checked_axis(const Context& c, std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    c.fail("an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1),
           std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace actorflow
