#ifdef ACTORFLOW_CUDA

#include "kernels/devices/cublas.h"

#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/library_handles.h"

namespace actorflow {

CublasHandle::CublasHandle(Device& device) {
  auto& entry = library_handle<cublasHandle_t>(device);
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
