// cuBLAS's handles, one per GPU. Included by CUDA code only.
#pragma once

#include <cublas_v2.h>

#include <mutex>
#include <string_view>

#include "dataflow/graph/precision.h"
#include "kernels/devices/device.h"

namespace actorflow {

// The device's handle, bound to the device's stream, for as long as this object lives. A handle must not
// be used by two threads at once; calls only launch work, so the wait for it is short.
class CublasHandle {
 public:
  explicit CublasHandle(Device& device);
  operator cublasHandle_t() const { return handle_; }  // NOLINT: it stands for the handle

 private:
  std::unique_lock<std::mutex> lock_;
  BufferRef workspace_;  // for calls that are captured; otherwise the handle's own is used
  cublasHandle_t handle_;
};

template <class T>
inline constexpr cudaDataType cublas_type = sizeof(T) == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;

// The compute type of products of T, with which cuBLAS rounds the factors itself if the precision allows
// it.
template <class T>
cublasComputeType_t compute_type(Precision precision) {
  if (sizeof(T) == sizeof(double)) return CUBLAS_COMPUTE_64F;
  switch (precision) {
    case Precision::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Precision::bf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    case Precision::float32:
      break;
  }
  return CUBLAS_COMPUTE_32F;
}

// Throws resource_exhausted or internal, naming the operation `doing`, unless the status is success.
void check_cublas(cublasStatus_t status, std::string_view doing);

}  // namespace actorflow
