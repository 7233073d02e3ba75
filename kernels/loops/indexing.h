// Shared by ops with indices: a tensor from which a tensor of indices chooses parts along an
// axis.
#pragma once

#include <string>
#include <type_traits>

#include "kernels/core/dtypes.h"
#include "kernels/devices/host_device.h"

namespace actorflow {

using IndexTypes = DTypes<std::int32_t, std::int64_t>;

// The shape of x with its dimension `axis` replaced by the dimensions of the indices.
template <class Context>
Shape gathered_shape(const Context& c, const Shape& x, const Shape& indices, int axis) {
  if (x.rank() - 1 + indices.rank() > Shape::max_rank)
    c.fail("a result of at most 8 dimensions", x.to_string() + " and indices " + indices.to_string());
  Shape shape;
  for (int i = 0; i < axis; ++i) shape.push_back(x[i]);
  for (const auto dim : indices.dims()) shape.push_back(dim);
  for (int i = axis + 1; i < x.rank(); ++i) shape.push_back(x[i]);
  return shape;
}

// A tensor as [outer, dim, inner], whose middle axis the indices choose from; the chosen parts are
// [outer, count, inner].
struct Indexed {
  std::int64_t outer = 1, dim = 1, inner = 1, count = 1;
};

inline Indexed indexed(const Shape& x, int axis, std::int64_t count) {
  Indexed view{.dim = x[axis], .count = count};
  for (int i = 0; i < axis; ++i) view.outer *= x[i];
  for (int i = axis + 1; i < x.rank(); ++i) view.inner *= x[i];
  return view;
}

// What an update does to its place. Integers wrap around.
struct AddTo {
  template <class T>
  ACTORFLOW_HOST_DEVICE void operator()(T& place, T update) const {
    if constexpr (std::is_integral_v<T>)
      place = static_cast<T>(static_cast<std::uint64_t>(place) + static_cast<std::uint64_t>(update));
    else
      place += update;
  }
};

// On a CPU an index out of range throws. A GPU cannot report it without a wait: there it reads 0 and
// writes nothing.
template <class Index>
void check_indices(const OpContext& c, std::int64_t dim) {
  const auto indices = c.input(1).values<Index>();
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] < 0 || indices[i] >= dim)
      c.fail("indices from 0 to " + std::to_string(dim - 1), "the index " + std::to_string(indices[i]) +
                                                                 " at place " + std::to_string(i) +
                                                                 " of " + c.input(1).describe());
}

}  // namespace actorflow
