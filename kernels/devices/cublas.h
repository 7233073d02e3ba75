// cuBLAS: its functions, loaded at their first use, and its handles, one per GPU. Included by CUDA code
// only.
#pragma once

#include <cublas_v2.h>

#include <mutex>
#include <string_view>

#include "dataflow/graph/precision.h"
#include "kernels/devices/device.h"

namespace actorflow {

// The functions that kernels call, each of the type that the header declares. A macro of the header
// makes cublasCreate cublasCreate_v2, and so on; sizes are int64_t.
struct CublasFunctions {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetMathMode) set_math_mode;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasGetStatusString) get_status_string;
  decltype(&cublasGemmEx_64) gemm_ex;
  decltype(&cublasGemmStridedBatchedEx_64) gemm_strided_batched_ex;
};

// Loads the library at the first call, and after a failure at the next; thread-safe. Throws
// failed_precondition, naming the library and what to install, while it is missing, and unimplemented if
// it lacks a function.
const CublasFunctions& cublas();

// The device's handle, bound to the device's stream, for as long as this object lives. A handle must not
// be used by two threads at once; calls only launch work, so the wait for it is short.
class CublasHandle {
 public:
  explicit CublasHandle(Device& device);
  operator cublasHandle_t() const { return handle_; }  // NOLINT: it stands for the handle

 private:
  std::unique_lock<std::mutex> lock_;
  BufferRef workspace_;
  cublasHandle_t handle_;
};

// REQUIRES: a floating type.
inline cudaDataType cublas_type(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return CUDA_R_16F;
    case DType::bfloat16:
      return CUDA_R_16BF;
    case DType::float64:
      return CUDA_R_64F;
    default:
      return CUDA_R_32F;
  }
}

// The type in which products of factors of `dtype` are summed up: of 16 bits in float32. Factors of
// float32 are rounded by cuBLAS itself if the precision allows it.
inline cublasComputeType_t compute_type(DType dtype, Precision precision) {
  if (dtype == DType::float64) return CUBLAS_COMPUTE_64F;
  if (dtype != DType::float32) return CUBLAS_COMPUTE_32F;
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

// One and zero in the type that cuBLAS expects for factors of a product, which is that of its sums.
struct ProductScales {
  explicit ProductScales(DType dtype) : wide_(dtype == DType::float64) {}
  const void* one() const { return wide_ ? static_cast<const void*>(&ones_.wide) : &ones_.narrow; }
  const void* zero() const { return wide_ ? static_cast<const void*>(&zeros_.wide) : &zeros_.narrow; }

 private:
  struct Scale {
    float narrow;
    double wide;
  };
  static constexpr Scale ones_{1, 1}, zeros_{0, 0};
  bool wide_;
};

// Throws resource_exhausted or internal, naming the operation `doing`, unless the status is success.
void check_cublas(cublasStatus_t status, std::string_view doing);

}  // namespace actorflow
