// Copies between the host's memory and a GPU's. Included by cuda_device.cu only.
//
// From and to page-locked memory the GPU copies by itself (page_locks.h). Everything else is staged: the
// processor copies it to or from chunks of page-locked memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/devices/cuda_device.h"
#include "kernels/devices/in_flight.h"
#include "kernels/devices/page_locks.h"

namespace actorflow {

// A moment in the work of a stream. Made for the current device.
class CudaEvent {
 public:
  CudaEvent() {
    check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "create an event");
  }
  CudaEvent(CudaEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent() {
    if (event_) cudaEventDestroy(event_);
  }

  // From now on the event is the end of what has been launched on the stream.
  void record(cudaStream_t stream) { check_cuda(cudaEventRecord(event_, stream), "record an event"); }
  // An event that was never recorded has passed.
  bool passed() const {
    const auto result = cudaEventQuery(event_);
    if (result != cudaErrorNotReady) return check_cuda(result, "look for an event"), true;
    cudaGetLastError();  // Forget it: the next launch must not report it.
    return false;
  }
  void wait() const { check_cuda(cudaEventSynchronize(event_), "wait for an event"); }
  // Lets what is launched on the stream from now on wait for the event.
  void hold_up(cudaStream_t stream) const {
    check_cuda(cudaStreamWaitEvent(stream, event_, 0), "let a stream wait for another");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaPageLocker final : public PageLocker {
 public:
  bool lock(void* data, std::size_t size_bytes) noexcept override {
    if (cudaHostRegister(data, size_bytes, cudaHostRegisterPortable) == cudaSuccess) return true;
    cudaGetLastError();  // Forget it: the next launch must not report it.
    return false;
  }
  void unlock(void* data) noexcept override {
    if (cudaHostUnregister(data) != cudaSuccess) cudaGetLastError();
  }
};

// For all GPUs. Never destroyed, as the memory that it has locked.
inline PageLocker& cuda_page_locker() {
  static auto* locker = new CudaPageLocker;
  return *locker;
}

inline void copy_async(void* to, const void* from, std::size_t size_bytes, cudaStream_t stream) {
  check_cuda(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, stream), "copy a tensor");
}

// Copies through chunks of page-locked memory, by turns: while the GPU copies some the host copies the
// next. Thread-safe: one copy at a time.
class Staging {
 public:
  // REQUIRES: two chunks at least.
  Staging(cudaStream_t stream, std::size_t chunk_bytes, std::size_t chunks)
      : stream_(stream), chunk_bytes_(chunk_bytes), chunks_(chunks) {
    void* all = nullptr;  // in one piece: an allocation takes long, whatever its size
    check_cuda(cudaMallocHost(&all, chunk_bytes * chunks), "allocate page-locked memory");
    for (std::size_t i = 0; i < chunks; ++i)
      chunks_[i].data = static_cast<std::byte*>(all) + i * chunk_bytes;
  }

  // Returns when the host's memory has been read. Waits only for the copy that last used a chunk.
  void to_device(void* device, const void* host, std::size_t size_bytes) {
    const std::lock_guard lock(mutex_);
    for (std::size_t first = 0; first < size_bytes; first += chunk_bytes_) {
      Chunk& chunk = next_chunk();
      const std::size_t count = std::min(chunk_bytes_, size_bytes - first);
      std::memcpy(chunk.data, static_cast<const std::byte*>(host) + first, count);
      copy(static_cast<std::byte*>(device) + first, chunk.data, count, chunk);
    }
  }

  // Returns when the host's memory has been written.
  void to_host(void* host, const void* device, std::size_t size_bytes) {
    const std::lock_guard lock(mutex_);
    const auto fetch = [&](std::size_t first) -> Chunk* {
      if (first >= size_bytes) return nullptr;
      Chunk& chunk = next_chunk();
      copy(chunk.data, static_cast<const std::byte*>(device) + first,
           std::min(chunk_bytes_, size_bytes - first), chunk);
      return &chunk;
    };
    Chunk* chunk = fetch(0);
    for (std::size_t first = 0; first < size_bytes; first += chunk_bytes_) {
      Chunk* const next = fetch(first + chunk_bytes_);
      chunk->copied.wait();
      std::memcpy(static_cast<std::byte*>(host) + first, chunk->data,
                  std::min(chunk_bytes_, size_bytes - first));
      chunk = next;
    }
  }

 private:
  struct Chunk {
    void* data = nullptr;
    CudaEvent copied;
  };

  // The one that was used longest ago, free again.
  Chunk& next_chunk() {
    Chunk& chunk = chunks_[next_++ % chunks_.size()];
    chunk.copied.wait();
    return chunk;
  }
  void copy(void* to, const void* from, std::size_t size_bytes, Chunk& chunk) {
    copy_async(to, from, size_bytes, stream_);
    chunk.copied.record(stream_);
  }

  std::mutex mutex_;
  cudaStream_t stream_;
  const std::size_t chunk_bytes_;
  std::vector<Chunk> chunks_;
  std::size_t next_ = 0;
};

// Copies on the stream of the kernels. They seldom wait for the GPU: so the host can launch a step while
// the GPU still computes the last one. Thread-safe.
class CopiesToDevice {
 public:
  explicit CopiesToDevice(cudaStream_t stream)
      : stream_(stream),
        small_(stream, small_bytes, 64),
        large_(stream, std::size_t{1} << 20U, 8),
        in_flight_(most_bytes_in_flight) {}

  void copy(void* device, const Tensor& host) {
    const std::size_t size = host.size_bytes();
    if (size == 0) return;
    if (is_locked_for_copy(host, cuda_page_locker())) return copy_directly(device, host);
    in_flight_.release_passed();
    (size <= small_bytes ? small_ : large_).to_device(device, host.data(), size);
  }

  // Lets go of host tensors that the GPU has read.
  void release_passed() { in_flight_.release_passed(); }

 private:
  // Labels and the like have chunks of their own, so that they need not wait for copies of large
  // tensors.
  static constexpr std::size_t small_bytes = std::size_t{64} << 10U;
  // The GPU takes some 10 ms for so much.
  static constexpr std::size_t most_bytes_in_flight = std::size_t{256} << 20U;

  void copy_directly(void* device, const Tensor& host) {
    in_flight_.launch(host, [&] {
      CudaEvent copied;
      copy_async(device, host.data(), host.size_bytes(), stream_);
      copied.record(stream_);
      return copied;
    });
  }

  cudaStream_t stream_;
  Staging small_, large_;
  InFlight<CudaEvent> in_flight_;
};

// Copies on a stream of their own. Thread-safe.
class CopiesToHost {
 public:
  explicit CopiesToHost(cudaStream_t stream)
      : stream_(stream), staging_(stream, std::size_t{4} << 20U, 2) {}

  // Copies once everything that has been launched on `launches` so far is done; later launches do not
  // wait for the copy. The caller holds the device's tensor until this returns, so that its memory has
  // no other user meanwhile.
  void copy(Tensor& host, const Tensor& device, cudaStream_t launches) {
    const std::size_t size = host.size_bytes();
    if (size == 0) return;
    CudaEvent launched;
    launched.record(launches);
    launched.hold_up(stream_);
    if (!is_locked_for_copy(host, cuda_page_locker()))
      return staging_.to_host(host.mutable_data(), device.data(), size);
    CudaEvent copied;
    copy_async(host.mutable_data(), device.data(), size, stream_);
    copied.record(stream_);
    copied.wait();
  }

 private:
  cudaStream_t stream_;
  Staging staging_;
};

}  // namespace actorflow
