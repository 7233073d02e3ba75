// Where the blocks of attention's kernels are, and how they are launched. For .cu files in a build with
// CUDA.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/attention/tiles.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/ops.h"

namespace actorflow::attention {

// Which tile of which head a block of threads computes.
struct BlockPlace {
  std::int64_t example, head, first;

  __device__ BlockPlace(const AttentionSize& s, std::int64_t rows) {
    const std::int64_t block = blockIdx.x, tiles = (rows + tile - 1) / tile;
    example = block / tiles / s.heads;
    head = block / tiles % s.heads;
    first = block % tiles * tile;
  }
  // Of a tensor [batch, queries, heads].
  __device__ std::int64_t row(const AttentionSize& s, std::int64_t query) const {
    return (example * s.queries + query) * s.heads + head;
  }
};

// How many of the keys from `first_key` on a query looks at; none if it is not there.
__device__ inline int visible_from(const AttentionSize& s, std::int64_t query, std::int64_t first_key) {
  return query < s.queries ? static_cast<int>(std::min<std::int64_t>(s.visible(query) - first_key, tile))
                           : 0;
}

// How many blocks a multiprocessor is to have at a time. With more registers per thread than that allows
// the compiler would fetch further ahead, but too few threads would be there to wait for memory.
template <class T, int columns>
inline constexpr int blocks_at_a_time = sizeof(T) > 4 || columns > 64 ? 4
                                        : columns > 32                ? 6
                                                                      : 8;

inline void expect_shared_memory(const AttentionSize& s, std::size_t needed) {
  int device = 0, most = 0;
  check_cuda(cudaGetDevice(&device), "ask for the device");
  check_cuda(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
             "ask for the device's shared memory");
  if (needed > static_cast<std::size_t>(most))
    throw Error(Code::unimplemented,
                "attention with heads of width " + std::to_string(s.width) + " needs " +
                    std::to_string(needed) + " bytes of shared memory on a GPU, but this one has " +
                    std::to_string(most) + "; use narrower heads, float32, or a CPU");
}

// Launches a block for each tile of `rows` rows of each head.
template <class Tiles, class... Parameters, class... Arguments>
void launch_tiles(Device& device, const AttentionSize& s, std::int64_t rows,
                  void (*kernel)(Parameters...), const Arguments&... arguments) {
  const std::int64_t blocks = s.batch * s.heads * ((rows + tile - 1) / tile);
  if (blocks > std::numeric_limits<int>::max())
    throw Error(Code::resource_exhausted, "attention of " + std::to_string(s.batch) + " examples with " +
                                              std::to_string(s.heads) +
                                              " heads is too large for one launch on a GPU");
  constexpr std::size_t taken_without_asking = 48 << 10;
  if (sizeof(Tiles) > taken_without_asking) {
    expect_shared_memory(s, sizeof(Tiles));
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sizeof(Tiles))),
               "take shared memory for attention");
  }
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                  cudaSharedmemCarveoutMaxShared),
             "prefer shared memory for attention");
  kernel<<<static_cast<unsigned>(blocks), threads, sizeof(Tiles), cuda_stream(device)>>>(arguments...);
  check_cuda(cudaGetLastError(), "launch an attention");
}

// Calls use.operator()<columns>() with a number of columns that suffices for a row.
template <class Use>
void with_columns(OpContext& c, std::int64_t width, const Use& use) {
  if (width <= 32) return use.template operator()<32>();
  if (width <= 64) return use.template operator()<64>();
  if (width <= widest_attention_on_gpu) return use.template operator()<widest_attention_on_gpu>();
  c.fail("heads of a width up to " + std::to_string(widest_attention_on_gpu) +
             ", as attention on a GPU takes them; use more heads or a CPU",
         "heads of width " + std::to_string(width));
}

}  // namespace actorflow::attention
