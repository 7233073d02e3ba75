#ifdef ACTORFLOW_CUDNN

#include "kernels/devices/cudnn.h"

#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/library_handles.h"

namespace actorflow {
namespace {

Code code_of(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_ALLOC_FAILED) return Code::resource_exhausted;
  return status / 1000 * 1000 == CUDNN_STATUS_NOT_SUPPORTED ? Code::unimplemented : Code::internal;
}

}  // namespace

CudnnHandle::CudnnHandle(Device& device) {
  auto& entry = library_handle<cudnnHandle_t>(device);
  lock_ = std::unique_lock(entry.mutex);
  const cudaStream_t stream = cuda_stream(device);
  if (!entry.handle) check_cudnn(cudnnCreate(&entry.handle), "create a handle");
  handle_ = entry.handle;
  check_cudnn(cudnnSetStream(handle_, stream), "set the stream");
}

void check_cudnn(cudnnStatus_t status, std::string_view doing) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Error(code_of(status),
              "cuDNN failed to " + std::string(doing) + ": " + cudnnGetErrorString(status));
}

}  // namespace actorflow

#endif
