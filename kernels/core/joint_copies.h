// Copies of many tensors of a GPU by one launch: a copy of its own for each takes a few microseconds,
// whatever its size. For .cu files in a build with CUDA.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataflow/values/tensor.h"
#include "kernels/devices/cuda_device.h"

namespace actorflow {
namespace detail {

constexpr std::int64_t copied_pack_bytes = sizeof(uint4);
constexpr std::int64_t bytes_per_copying_block = 4 * cuda_block_threads * copied_pack_bytes;

// Some copies, as an argument of a kernel.
struct CopyTable {
  struct Entry {
    const std::byte* from;
    std::byte* to;
    std::int64_t bytes;
    std::int64_t first_block;  // of the grid, among those that make this copy
  };
  static constexpr std::size_t bytes_of_arguments = 4096;
  static constexpr int most = static_cast<int>(bytes_of_arguments / sizeof(Entry)) - 1;
  int count = 0;
  Entry entries[most];
};

static __global__ void __launch_bounds__(cuda_block_threads)
    copy_tensors(const __grid_constant__ CopyTable table) {
  int mine = 0;  // the last entry whose first block is not behind this one
  for (int behind = table.count; behind - mine > 1;) {
    const int middle = (mine + behind) / 2;
    (table.entries[middle].first_block <= blockIdx.x ? mine : behind) = middle;
  }
  const CopyTable::Entry& entry = table.entries[mine];
  const std::int64_t begin = (blockIdx.x - entry.first_block) * bytes_per_copying_block;
  const std::int64_t left = entry.bytes - begin;
  const std::int64_t bytes = left < bytes_per_copying_block ? left : bytes_per_copying_block;
  const std::byte* const from = entry.from + begin;
  std::byte* const to = entry.to + begin;
  const std::int64_t packs = bytes / copied_pack_bytes;
  for (std::int64_t i = threadIdx.x; i < packs; i += cuda_block_threads)
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  for (std::int64_t i = packs * copied_pack_bytes + threadIdx.x; i < bytes; i += cuda_block_threads)
    to[i] = from[i];
}

}  // namespace detail

// Collects copies between tensors of one GPU, and launches them in few launches. Used by one thread.
class JointCopies {
 public:
  explicit JointCopies(cudaStream_t stream) : stream_(stream) {}

  // REQUIRES: both tensors have the same size, buffers of their own, and are held until launch().
  void add(Tensor& to, const Tensor& from) {
    const auto bytes = static_cast<std::int64_t>(from.size_bytes());
    if (bytes == 0) return;
    table_.entries[table_.count++] = {static_cast<const std::byte*>(from.data()),
                                      static_cast<std::byte*>(to.mutable_data()), bytes, blocks_};
    blocks_ += (bytes - 1) / detail::bytes_per_copying_block + 1;
    if (table_.count == detail::CopyTable::most) launch();
  }

  // Launches what has been added since the last launch.
  void launch() {
    if (table_.count == 0) return;
    detail::copy_tensors<<<static_cast<unsigned>(blocks_), cuda_block_threads, 0, stream_>>>(table_);
    check_cuda(cudaGetLastError(), "copy tensors");
    table_.count = 0;
    blocks_ = 0;
  }

 private:
  const cudaStream_t stream_;
  detail::CopyTable table_;
  std::int64_t blocks_ = 0;
};

}  // namespace actorflow
