#ifdef ACTORFLOW_CUDA

#include "kernels/devices/cublas_lt.h"

#include <memory>
#include <string>

#include "dataflow/values/error.h"
#include "kernels/devices/cublas.h"
#include "kernels/devices/shared_library.h"

namespace actorflow {
namespace {

std::unique_ptr<const CublasLtFunctions> load() try {
  const std::string major = std::to_string(CUBLAS_VER_MAJOR);
  const SharedLibrary library =
      cuda_library("libcublasLt.so." + major, "install cuBLAS of CUDA " + major);
  CublasLtFunctions all;
  library.find("cublasLtMatmul", all.matmul);
  library.find("cublasLtMatmulAlgoGetHeuristic", all.find_algorithms);
  library.find("cublasLtMatmulAlgoCheck", all.check_algorithm);
  library.find("cublasLtMatmulDescCreate", all.create_operation);
  library.find("cublasLtMatmulDescDestroy", all.destroy_operation);
  library.find("cublasLtMatmulDescSetAttribute", all.set_operation_attribute);
  library.find("cublasLtMatrixLayoutCreate", all.create_layout);
  library.find("cublasLtMatrixLayoutDestroy", all.destroy_layout);
  library.find("cublasLtMatmulPreferenceCreate", all.create_preference);
  library.find("cublasLtMatmulPreferenceDestroy", all.destroy_preference);
  library.find("cublasLtMatmulPreferenceSetAttribute", all.set_preference_attribute);
  return std::make_unique<const CublasLtFunctions>(all);
} catch (const Error&) {  // cuBLAS itself multiplies, too
  return nullptr;
}

}  // namespace

const CublasLtFunctions* cublas_lt() {
  cublas();  // which brings the cuBLASLt of its own version with it
  static const std::unique_ptr<const CublasLtFunctions> all = load();
  return all.get();
}

}  // namespace actorflow

#endif
