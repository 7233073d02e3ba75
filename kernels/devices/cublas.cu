#ifdef ACTORFLOW_CUDA

#include "kernels/devices/cublas.h"

#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/library_handles.h"
#include "kernels/devices/shared_library.h"

namespace actorflow {
namespace {

// The library of the headers' major version, which is that of CUDA.
SharedLibrary cublas_library() {
  const std::string major = std::to_string(CUBLAS_VER_MAJOR);
  const std::string minor = std::to_string(CUDART_VERSION % 1000 / 10);
  return cuda_library(
      "libcublas.so." + major,
      "install cuBLAS of CUDA " + major + " (NVIDIA's package libcublas-" + major + "-" + minor + ")");
}

CublasFunctions functions_of(const SharedLibrary& library) {
  CublasFunctions all;
  library.find("cublasCreate_v2", all.create);
  library.find("cublasSetMathMode", all.set_math_mode);
  library.find("cublasSetStream_v2", all.set_stream);
  library.find("cublasSetWorkspace_v2", all.set_workspace);
  library.find("cublasGetStatusString", all.get_status_string);
  library.find("cublasGemmEx_64", all.gemm_ex);
  library.find("cublasGemmStridedBatchedEx_64", all.gemm_strided_batched_ex);
  return all;
}

// Sums of products of 16 bits are made in float32 in every algorithm, so that they are rounded once.
cublasHandle_t new_handle() {
  cublasHandle_t handle = nullptr;
  check_cublas(cublas().create(&handle), "create a handle");
  check_cublas(cublas().set_math_mode(
                   handle, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                     CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)),
               "set the mode of its sums");
  return handle;
}

}  // namespace

const CublasFunctions& cublas() {
  static const CublasFunctions all = functions_of(cublas_library());
  return all;
}

CublasHandle::CublasHandle(Device& device) {
  auto& entry = library_handle<cublasHandle_t>(device);
  lock_ = std::unique_lock(entry.mutex);
  const cudaStream_t stream = cuda_stream(device);
  if (!entry.handle) entry.handle = new_handle();
  handle_ = entry.handle;
  check_cublas(cublas().set_stream(handle_, stream), "set the stream");
  // The handle's own workspace would be one for all streams, and cuBLAS would allocate within a CUDA
  // graph. Of one size in each call, on which the algorithm may depend, and so the bits: that of its own
  // on Hopper.
  constexpr std::size_t workspace_bytes = std::size_t{32} << 20U;
  workspace_ = device.allocator().allocate(workspace_bytes);
  check_cublas(cublas().set_workspace(handle_, workspace_->data(), workspace_bytes),
               "set the workspace");
}

void check_cublas(cublasStatus_t status, std::string_view doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const Code code = status == CUBLAS_STATUS_ALLOC_FAILED ? Code::resource_exhausted : Code::internal;
  throw Error(code,
              "cuBLAS failed to " + std::string(doing) + ": " + cublas().get_status_string(status));
}

}  // namespace actorflow

#endif
