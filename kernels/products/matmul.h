// The product of two matrices, for ops that contain one.
#pragma once

#include <memory>

#include "kernels/core/kernel.h"

namespace actorflow {

// Adds the type of the product of inputs 0 and 1, by the attributes transpose_a and transpose_b, as an
// output. All inputs must have one dtype.
void infer_matmul(InferContext& context);

// Kernels that write the product of inputs 0 and 1 to output 0; other inputs are ignored.
std::unique_ptr<Kernel> make_cpu_matmul(const Node& node);
#ifdef ACTORFLOW_CUDA
std::unique_ptr<Kernel> make_cuda_matmul(const Node& node);
#else
inline constexpr KernelMaker make_cuda_matmul = nullptr;
#endif

}  // namespace actorflow
