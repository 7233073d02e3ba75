// Packs of neighbouring turns of a nest of loops (strided.h), which a thread of a GPU makes at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/devices/host_device.h"
#include "kernels/loops/strided.h"

namespace actorflow {

// Whether n neighbouring turns always use of each operand either one element or n neighbours that begin
// at a multiple of n. `places` has the operands' addresses, in elements.
template <int operands>
bool turns_in_packs(const StridedLoops<operands>& loops, std::int64_t n,
                    const std::array<std::uintptr_t, operands>& places) {
  if (loops.row_length() % n != 0) return false;
  for (std::size_t operand = 0; operand < operands; ++operand) {
    const auto& strides = loops.strides[operand];
    const std::int64_t innermost = strides[loops.rank - 1];
    if (innermost == 0) continue;
    if (innermost != 1 || places[operand] % static_cast<std::uintptr_t>(n) != 0) return false;
    for (int axis = 0; axis < loops.rank - 1; ++axis)
      if (strides[axis] % n != 0) return false;
  }
  return true;
}

// The loops of which each turn makes n of the given ones; strides still count elements.
template <int operands>
StridedLoops<operands> loops_over_packs(StridedLoops<operands> loops, std::int64_t n) {
  const int inner = loops.rank - 1;
  loops.elements /= n;
  loops.dims[inner] /= n;
  for (auto& strides : loops.strides) strides[inner] *= n;
  return loops;
}

template <int operands>
struct Offsets {
  std::int64_t of[operands] = {};
};

template <class Int, int operands>
ACTORFLOW_HOST_DEVICE Offsets<operands> divided_offsets(const StridedLoops<operands>& loops, Int rest) {
  Offsets<operands> offsets;
  for (int axis = loops.rank - 1; axis > 0; --axis) {
    const auto dim = static_cast<Int>(loops.dims[axis]);
    const Int next = rest / dim, index = rest - next * dim;
    for (int operand = 0; operand < operands; ++operand)
      offsets.of[operand] += static_cast<std::int64_t>(index) * loops.strides[operand][axis];
    rest = next;
  }
  for (int operand = 0; operand < operands; ++operand)
    offsets.of[operand] += static_cast<std::int64_t>(rest) * loops.strides[operand][0];
  return offsets;
}

// The offsets of all operands at a turn of the nest, which share the divisions.
template <int operands>
ACTORFLOW_HOST_DEVICE Offsets<operands> offsets_at(const StridedLoops<operands>& loops,
                                                   std::int64_t turn) {
  // A GPU has no instruction for division: with 64 bits it takes several times as long as with 32.
  if (loops.elements <= 0xffff'ffff) return divided_offsets(loops, static_cast<std::uint32_t>(turn));
  return divided_offsets(loops, turn);
}

}  // namespace actorflow
