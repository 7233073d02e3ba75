#ifdef ACTORFLOW_CUDA

#include "kernels/devices/cublas.h"

#include <map>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cuda_device.h"

namespace actorflow {
namespace {

struct DeviceHandle {
  std::mutex mutex;
  cublasHandle_t handle = nullptr;
};

// Entries are never erased, so references to them stay valid.
DeviceHandle& handle_of(const Device& device) {
  static std::mutex mutex;
  static auto* handles = new std::map<int, DeviceHandle>;
  const std::lock_guard lock(mutex);
  return (*handles)[device.index()];
}

}  // namespace

CublasHandle::CublasHandle(Device& device) {
  DeviceHandle& entry = handle_of(device);
  lock_ = std::unique_lock(entry.mutex);
  const cudaStream_t stream = cuda_stream(device);
  if (!entry.handle) check_cublas(cublasCreate(&entry.handle), "create a handle");
  handle_ = entry.handle;
  check_cublas(cublasSetStream(handle_, stream), "set the stream");  // and the handle's own workspace
  if (!static_cast<CudaStreamDevice&>(device).captured()) return;
  // cuBLAS would allocate its workspace within the graph. As large as its own is on Hopper.
  constexpr std::size_t workspace_bytes = std::size_t{32} << 20U;
  workspace_ = device.allocator().allocate(workspace_bytes);
  check_cublas(cublasSetWorkspace(handle_, workspace_->data(), workspace_bytes), "set the workspace");
}

void check_cublas(cublasStatus_t status, std::string_view doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const Code code = status == CUBLAS_STATUS_ALLOC_FAILED ? Code::resource_exhausted : Code::internal;
  throw Error(code, "cuBLAS failed to " + std::string(doing) + ": " + cublasGetStatusString(status));
}

}  // namespace actorflow

#endif
