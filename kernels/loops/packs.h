// Packs of neighbouring elements of a matrix on the GPU, which a thread reads and writes at once: memory
// is fastest with 16 bytes for each thread. For .cu files in a build with CUDA.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/devices/cuda_device.h"
#include "kernels/loops/rows.h"

namespace actorflow {

inline constexpr std::size_t widest_access = 16;

template <class T, int n>
struct alignas(std::min(widest_access, n * sizeof(T))) Pack {
  T values[n];
};

// REQUIRES: memory aligned as the pack.
template <int n, class T>
__device__ Pack<T, n> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, n>*>(from);
}

template <class T, int n>
__device__ void store_pack(T* to, const Pack<T, n>& pack) {
  *reinterpret_cast<Pack<T, n>*>(to) = pack;
}

// Whether rows of so many columns can be read and written in packs of four; a null pointer can.
template <class... Pointers>
bool in_fours(std::int64_t columns, const Pointers*... matrices) {
  const auto aligned = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % widest_access == 0;
  };
  return columns % 4 == 0 && (aligned(matrices) && ...);
}

template <int n, class Body>
void launch_packs(Device& device, Rows size, const Body& body) {
  const std::int64_t columns = size.columns, packs = size.rows * (columns / n);
  if (size.rows * columns <= 0xffff'ffff)  // dividing 32-bit numbers takes a fraction of the time
    launch(device, packs, [=] __device__(std::int64_t pack) {
      const auto i = static_cast<std::uint32_t>(pack) * static_cast<std::uint32_t>(n);
      body.template run<n>(i, i % static_cast<std::uint32_t>(columns));
    });
  else
    launch(device, packs,
           [=] __device__(std::int64_t pack) { body.template run<n>(pack * n, pack * n % columns); });
}

// Calls body.run<n>(i, column) for packs of n elements that begin at element i: packs of four, or single
// elements.
template <class Body>
void launch_packs(Device& device, Rows size, bool fours, const Body& body) {
  fours ? launch_packs<4>(device, size, body) : launch_packs<1>(device, size, body);
}

}  // namespace actorflow
