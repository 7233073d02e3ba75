// A GPU kernel over the elements of a matrix, with their columns. For .cu files in a build with CUDA.
#pragma once

#include <cstdint>

#include "kernels/devices/cuda_device.h"
#include "kernels/loops/rows.h"

namespace actorflow {

// Calls body(i, column) for every element of a matrix.
template <class Body>
void launch_elements(Device& device, Rows size, const Body& body) {
  const std::int64_t columns = size.columns, elements = size.rows * columns;
  if (elements <= 0xffff'ffff)  // dividing 32-bit numbers takes a fraction of the time
    launch(device, elements, [=] __device__(std::int64_t i) {
      body(i, static_cast<std::int64_t>(static_cast<std::uint32_t>(i) %
                                        static_cast<std::uint32_t>(columns)));
    });
  else
    launch(device, elements, [=] __device__(std::int64_t i) { body(i, i % columns); });
}

}  // namespace actorflow
