// The product of two matrices, for the ops that do more with it.
#pragma once

#include <memory>

#include "kernels/core/kernel.h"

namespace actorflow {

// Of inputs 0 and 1 and the attributes transpose_a and transpose_b: adds the product's type. All inputs
// must have one dtype.
void infer_matmul(InferContext& context);

// Kernels that put the product of inputs 0 and 1 into output 0, whatever else the node has.
std::unique_ptr<Kernel> make_cpu_matmul(const Node& node);
#ifdef ACTORFLOW_CUDA
std::unique_ptr<Kernel> make_cuda_matmul(const Node& node);
#else
inline constexpr KernelMaker make_cuda_matmul = nullptr;
#endif

}  // namespace actorflow
