// cuBLASLt, the part of cuBLAS that lets its callers choose the algorithm of a product, and lets a
// product do more: its functions, loaded at their first use. Included by CUDA code only.
#pragma once

#include <cublasLt.h>

namespace actorflow {

// The functions that kernels call, each of the type that the header declares.
struct CublasLtFunctions {
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulAlgoGetHeuristic) find_algorithms;
  decltype(&cublasLtMatmulAlgoCheck) check_algorithm;
  decltype(&cublasLtMatmulDescCreate) create_operation;
  decltype(&cublasLtMatmulDescDestroy) destroy_operation;
  decltype(&cublasLtMatmulDescSetAttribute) set_operation_attribute;
  decltype(&cublasLtMatrixLayoutCreate) create_layout;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference_attribute;
};

// Loads the library at the first call; thread-safe. Null if it is missing or lacks a function, for as
// long as the process lives, so that a product has the same bits in each step.
const CublasLtFunctions* cublas_lt();

}  // namespace actorflow
