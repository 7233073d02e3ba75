// CUDA devices as kernels use them. Included by .cu files only, in builds with CUDA.
//
// A device has one stream for kernels. They are launched on it without waiting, so the host may release
// a buffer while a kernel still uses it: the next user of the memory comes later on the same stream.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "kernels/devices/device.h"

namespace actorflow {

// Throws unless the result is success: resource_exhausted when memory ran out, else internal, with the
// message "CUDA failed to <doing>: <CUDA's own words>".
void check_cuda(cudaError_t result, std::string_view doing);

// A GPU, or a view of it, with the stream that kernels are launched on.
class CudaStreamDevice : public Device {
 public:
  DeviceType type() const override { return DeviceType::cuda; }
  // The stream for kernels. Makes the device current for the calling thread. Launches may be captured to
  // be repeated later, so libraries must use memory of the allocator.
  virtual cudaStream_t stream() = 0;
};

// The device's stream. Makes the device current, so that the calling thread may launch on it. REQUIRES:
// a CUDA device.
cudaStream_t cuda_stream(Device& device);

// Device memory for the duration of some launches; its next user comes later on the same stream.
template <class T>
class DeviceScratch {
 public:
  DeviceScratch(Device& device, std::int64_t count)
      : buffer_(device.allocator().allocate(static_cast<std::size_t>(count) * sizeof(T))) {}
  T* data() const { return static_cast<T*>(buffer_->data()); }

 private:
  BufferRef buffer_;
};

#ifdef __CUDACC__

inline constexpr int cuda_block_threads = 256;

// Calls body(i) for 0 <= i < count, in a grid-stride loop.
template <class Body>
__global__ void for_each_index(std::int64_t count, Body body) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride)
    body(i);
}

// Launches body(i) for 0 <= i < count on the device's stream. `body` is copied to the device.
template <class Body>
void launch(Device& device, std::int64_t count, const Body& body) {
  if (count == 0) return;
  constexpr std::int64_t max_blocks = 8192;
  const std::int64_t blocks = std::min((count - 1) / cuda_block_threads + 1, max_blocks);
  for_each_index<<<static_cast<unsigned>(blocks), cuda_block_threads, 0, cuda_stream(device)>>>(count,
                                                                                                body);
  check_cuda(cudaGetLastError(), "launch a kernel");
}

#endif

}  // namespace actorflow
