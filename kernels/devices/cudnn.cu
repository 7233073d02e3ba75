#ifdef ACTORFLOW_CUDNN

#include "kernels/devices/cudnn.h"

#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cublas.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/library_handles.h"
#include "kernels/devices/shared_library.h"

namespace actorflow {
namespace {

// The library of the headers' major version.
SharedLibrary cudnn_library() {
  cublas();  // brings libcublasLt, which cuDNN looks for by its bare name
  const std::string major = std::to_string(CUDNN_MAJOR);
  const std::string cuda_major = std::to_string(CUDART_VERSION / 1000);
  return cuda_library("libcudnn.so." + major, "install cuDNN " + major + " for CUDA " + cuda_major +
                                                  " (NVIDIA's package libcudnn" + major + "-cuda-" +
                                                  cuda_major + ")");
}

CudnnFunctions functions_of(const SharedLibrary& library) {
  CudnnFunctions all;
  library.find("cudnnCreate", all.create);
  library.find("cudnnSetStream", all.set_stream);
  library.find("cudnnGetErrorString", all.get_error_string);
  library.find("cudnnBackendCreateDescriptor", all.create_descriptor);
  library.find("cudnnBackendDestroyDescriptor", all.destroy_descriptor);
  library.find("cudnnBackendSetAttribute", all.set_attribute);
  library.find("cudnnBackendGetAttribute", all.get_attribute);
  library.find("cudnnBackendFinalize", all.finalize);
  library.find("cudnnBackendExecute", all.execute);
  return all;
}

Code code_of(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_ALLOC_FAILED) return Code::resource_exhausted;
  return status / 1000 * 1000 == CUDNN_STATUS_NOT_SUPPORTED ? Code::unimplemented : Code::internal;
}

}  // namespace

const CudnnFunctions& cudnn() {
  static const CudnnFunctions all = functions_of(cudnn_library());
  return all;
}

CudnnHandle::CudnnHandle(Device& device) {
  auto& entry = library_handle<cudnnHandle_t>(device);
  lock_ = std::unique_lock(entry.mutex);
  const cudaStream_t stream = cuda_stream(device);
  if (!entry.handle) check_cudnn(cudnn().create(&entry.handle), "create a handle");
  handle_ = entry.handle;
  check_cudnn(cudnn().set_stream(handle_, stream), "set the stream");
}

void check_cudnn(cudnnStatus_t status, std::string_view doing) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Error(code_of(status),
              "cuDNN failed to " + std::string(doing) + ": " + cudnn().get_error_string(status));
}

}  // namespace actorflow

#endif
