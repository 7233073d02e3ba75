// The GPUs of the machine, or the lack of them.
#include "dataflow/values/check.h"
#include "dataflow/values/error.h"
#include "kernels/devices/device.h"

#ifdef ACTORFLOW_CUDA

#include <memory>
#include <string>
#include <vector>

#include "kernels/devices/cuda_copies.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/memory_holders.h"
#include "kernels/devices/pool.h"

namespace actorflow {
namespace {

std::size_t memory_of(int index) {
  check_cuda(cudaSetDevice(index), "select a device");
  std::size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "ask for the size of its memory");
  return total_bytes;
}

class CudaMemory final : public MemorySource {
 public:
  explicit CudaMemory(int index) : index_(index), total_bytes_(memory_of(index)) {}

  void* take(std::size_t size_bytes) override {
    check_cuda(cudaSetDevice(index_), "select a device");
    void* data = nullptr;
    const auto result = cudaMalloc(&data, size_bytes);
    if (result == cudaSuccess) return data;
    cudaGetLastError();  // Forget it: the next launch must not report it.
    if (result != cudaErrorMemoryAllocation) check_cuda(result, "allocate memory");
    return nullptr;
  }
  // Waits for the device, so no kernel still uses the memory.
  void give_back(void* data, std::size_t) noexcept override { cudaFree(data); }
  bool reclaim() noexcept override { return memory_holders(index_).give_back_one(); }
  std::size_t total_bytes() const override { return total_bytes_; }
  MemorySpace space() const override { return MemorySpace::cuda; }
  std::string name() const override { return "GPU:" + std::to_string(index_); }

 private:
  const int index_;
  const std::size_t total_bytes_;
};

// Its streams and memory live as long as the process.
class CudaDevice final : public CudaStreamDevice {
 public:
  explicit CudaDevice(int index)
      : index_(index),
        memory_(index),
        stream_(make_stream(index)),
        pool_(memory_, memory_.total_bytes() / 4),
        to_device_(stream_),
        to_host_(make_stream(index)) {}

  int index() const override { return index_; }
  std::int64_t memory_bytes() const override {
    cudaDeviceProp properties;
    check_cuda(cudaGetDeviceProperties(&properties, index_), "ask for the properties of the device");
    return static_cast<std::int64_t>(properties.totalGlobalMem);
  }
  Allocator& allocator() override { return pool_; }

  Tensor to_device(const Tensor& host) override {
    if (!host.valid() || host.dtype() == DType::string || !host.on_host()) return host;
    stream();
    Tensor copy = Tensor::allocate(host.dtype(), host.shape(), pool_);
    to_device_.copy(copy.mutable_data(), host);
    return copy;
  }

  Tensor to_host(const Tensor& tensor) override {
    if (tensor.on_host()) return tensor;
    Tensor copy = Tensor::allocate(tensor.dtype(), tensor.shape(), cpu_device().allocator());
    to_host_.copy(copy, tensor, stream());
    to_device_.release_passed();  // what was copied before those results were computed
    return copy;
  }

  void synchronize() override {
    check_cuda(cudaStreamSynchronize(stream()), "wait for the device");
    to_device_.release_passed();
  }

  cudaStream_t stream() override {
    check_cuda(cudaSetDevice(index_), "select a device");
    return stream_;
  }

 private:
  static cudaStream_t make_stream(int index) {
    check_cuda(cudaSetDevice(index), "select a device");
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream");
    return stream;
  }

  const int index_;
  CudaMemory memory_;
  cudaStream_t stream_;
  Pool pool_;
  CopiesToDevice to_device_;
  CopiesToHost to_host_;
};

const std::vector<std::unique_ptr<CudaDevice>>& devices() {
  // Never destroyed: tensors may outlive every static object.
  static const auto* all = [] {
    auto* made = new std::vector<std::unique_ptr<CudaDevice>>;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;  // no driver, or no GPU
    for (int i = 0; i < count; ++i) made->push_back(std::make_unique<CudaDevice>(i));
    return made;
  }();
  return *all;
}

}  // namespace

void check_cuda(cudaError_t result, std::string_view doing) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // Forget it: a launch of whoever catches this must not report it again.
  throw Error(result == cudaErrorMemoryAllocation ? Code::resource_exhausted : Code::internal,
              "CUDA failed to " + std::string(doing) + ": " + cudaGetErrorString(result));
}

cudaStream_t cuda_stream(Device& device) {
  ACTORFLOW_CHECK(device.type() == DeviceType::cuda);
  return static_cast<CudaStreamDevice&>(device).stream();
}

int cuda_device_count() { return static_cast<int>(devices().size()); }

Device& cuda_device(int index) {
  const int count = cuda_device_count();
  if (index >= 0 && index < count) return *devices()[static_cast<std::size_t>(index)];
  throw Error(Code::not_found,
              "no device GPU:" + std::to_string(index) + "; this machine has CPU:0 and " +
                  (count == 0 ? "no GPU" : "the GPUs 0 to " + std::to_string(count - 1)));
}

}  // namespace actorflow

#else

namespace actorflow {

int cuda_device_count() { return 0; }

Device& cuda_device(int index) {
  throw Error(Code::not_found,
              "no device GPU:" + std::to_string(index) + "; this build has no CUDA, only CPU:0");
}

}  // namespace actorflow

#endif
