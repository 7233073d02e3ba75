// cuDNN: its functions, loaded at their first use, and its handles, one per GPU. Included by CUDA code
// only, where the build has cuDNN's headers.
#pragma once

#include <cudnn.h>

#include <mutex>
#include <string_view>

#include "kernels/devices/device.h"

namespace actorflow {

// The functions that kernels call, each of the type that the header declares.
struct CudnnFunctions {
  decltype(&cudnnCreate) create;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnGetErrorString) get_error_string;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;
};

// As cublas(), which it calls first: cuDNN needs cuBLAS.
const CudnnFunctions& cudnn();

// The device's handle, bound to the device's stream, for as long as this object lives. A handle must not
// be used by two threads at once; calls only launch work, so the wait for it is short.
class CudnnHandle {
 public:
  explicit CudnnHandle(Device& device);
  operator cudnnHandle_t() const { return handle_; }  // NOLINT: it stands for the handle

 private:
  std::unique_lock<std::mutex> lock_;
  cudnnHandle_t handle_;
};

// Throws resource_exhausted, unimplemented or internal, naming the operation `doing`, unless the status
// is success.
void check_cudnn(cudnnStatus_t status, std::string_view doing);

}  // namespace actorflow
