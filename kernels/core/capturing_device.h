// A GPU whose launches become CUDA graphs, and the memory of these. Included by captured_region.cu only.
#pragma once

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/pool.h"

namespace actorflow {

// The memory that all graphs of a GPU hold. Thread-safe.
inline std::atomic<std::size_t>& bytes_in_graphs(int device) {
  static std::mutex mutex;
  static auto* bytes = new std::map<int, std::atomic<std::size_t>>;  // never erased from
  const std::lock_guard lock(mutex);
  return (*bytes)[device];
}

// The memory in which CUDA graphs work: blocks of the device's pool, held as long as the graphs, since
// these have the addresses. What needs much memory gains nothing by graphs, whose memory serves nobody
// else between their launches; so all graphs of a GPU get an eighth of it.
class GraphMemory final : public MemorySource {
 public:
  explicit GraphMemory(Device& device)
      : device_(device),
        most_bytes_(static_cast<std::size_t>(device.memory_bytes()) / 8),
        bytes_in_use_(bytes_in_graphs(device.index())) {}
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  // Launches may still use the blocks: their next user comes later on the device's stream.
  ~GraphMemory() override { bytes_in_use_ -= bytes_; }

  void* take(std::size_t size_bytes) override {
    const std::lock_guard lock(mutex_);
    if (!reserve(size_bytes)) return nullptr;
    try {
      blocks_.push_back(device_.allocator().allocate(size_bytes));
    } catch (const Error&) {
      bytes_in_use_ -= size_bytes;
      return nullptr;
    }
    bytes_ += size_bytes;
    return blocks_.back()->data();
  }
  void give_back(void*, std::size_t) noexcept override {}
  MemorySpace space() const override { return MemorySpace::cuda; }
  std::string name() const override {
    return "GPU:" + std::to_string(device_.index()) + " (the eighth of it that CUDA graphs may take)";
  }

 private:
  // A request that is refused is never counted, so that it costs no other region its graphs.
  bool reserve(std::size_t size_bytes) {
    std::size_t in_use = bytes_in_use_;
    do {
      if (in_use + size_bytes > most_bytes_) return false;
    } while (!bytes_in_use_.compare_exchange_weak(in_use, in_use + size_bytes));
    return true;
  }

  Device& device_;
  const std::size_t most_bytes_;
  std::atomic<std::size_t>& bytes_in_use_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::vector<BufferRef> blocks_;
};

// A stream of the current device on which nothing runs but a capture. The streams are used again and
// never destroyed, since the handles of libraries stay bound to the last one.
class CaptureStream {
 public:
  explicit CaptureStream(int device) : device_(device) {
    const std::lock_guard lock(mutex());
    auto& free = free_streams()[device];
    if (free.empty())
      check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
    else
      stream_ = free.back(), free.pop_back();
  }
  CaptureStream(const CaptureStream&) = delete;
  CaptureStream& operator=(const CaptureStream&) = delete;
  ~CaptureStream() {
    const std::lock_guard lock(mutex());
    free_streams()[device_].push_back(stream_);
  }

  cudaStream_t get() const { return stream_; }

 private:
  static std::mutex& mutex() {
    static std::mutex all;
    return all;
  }
  static std::map<int, std::vector<cudaStream_t>>& free_streams() {
    static auto* streams = new std::map<int, std::vector<cudaStream_t>>;
    return *streams;
  }

  const int device_;
  cudaStream_t stream_ = nullptr;
};

// A GPU as the kernels of a region see it before and while they are captured: memory of its own and,
// while they are captured, another stream, on which nobody else launches.
class CapturingDevice final : public CudaStreamDevice {
 public:
  explicit CapturingDevice(Device& device)
      : device_(device), memory_(device), pool_(memory_, std::numeric_limits<std::size_t>::max()) {}

  int index() const override { return device_.index(); }
  Allocator& allocator() override { return pool_; }
  cudaStream_t stream() override {
    const cudaStream_t stream = cuda_stream(device_);  // makes the device current
    return captured_ ? captured_ : stream;
  }
  void synchronize() override {
    refuse_while_capturing();
    check_cuda(cudaStreamSynchronize(stream()), "wait for the device");
  }

  Tensor to_device(const Tensor& host) override {
    if (!host.valid() || host.dtype() == DType::string || !host.on_host()) return host;
    Tensor copy = Tensor::allocate(host.dtype(), host.shape(), pool_);
    copy_now(copy.mutable_data(), host);
    return copy;
  }
  Tensor to_host(const Tensor& tensor) override {
    if (tensor.on_host()) return tensor;
    Tensor copy = Tensor::allocate(tensor.dtype(), tensor.shape(), cpu_device().allocator());
    copy_now(copy.mutable_data(), tensor);
    return copy;
  }

  // What launch() launches, as a graph that the caller destroys; null if CUDA could not make one. Throws
  // what launch() throws.
  template <class Launch>
  cudaGraph_t capture(const Launch& launch) {
    cuda_stream(device_);  // makes the device current
    const CaptureStream stream(index());
    check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed), "begin a capture");
    captured_ = stream.get();
    try {
      launch();
    } catch (...) {
      if (const cudaGraph_t unwanted = end_capture()) cudaGraphDestroy(unwanted);
      throw;
    }
    return end_capture();
  }

 private:
  cudaGraph_t end_capture() noexcept {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(std::exchange(captured_, nullptr), &graph);
    cudaGetLastError();  // Forget it: the next launch must not report it.
    return graph;
  }

  void copy_now(void* to, const Tensor& from) {
    refuse_while_capturing();
    check_cuda(cudaMemcpyAsync(to, from.data(), from.size_bytes(), cudaMemcpyDefault, stream()),
               "copy a tensor");
    synchronize();
  }
  // The graph would keep the values of this moment.
  void refuse_while_capturing() const {
    if (captured_)
      throw Error(Code::unimplemented, "a kernel that needs values on the host cannot be captured");
  }

  Device& device_;
  GraphMemory memory_;
  Pool pool_;
  cudaStream_t captured_ = nullptr;  // while it is captured
};

}  // namespace actorflow
