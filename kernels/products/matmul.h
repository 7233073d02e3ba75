// The product of two matrices, for ops that contain one.
#pragma once

#include <memory>

#include "kernels/core/kernel.h"

namespace actorflow {

// Adds the type of the product of inputs 0 and 1, by the attributes transpose_a and transpose_b, as an
// output. All inputs must have one dtype.
void infer_matmul(InferContext& context);

// Writes the product of inputs 0 and 1 to output 0; other inputs are ignored.
class Product : public Kernel {
 public:
  // As compute(); true if it has also added the bias to each row, and then with the bits of a pass that
  // adds. Anything but one value for each column is not added.
  virtual bool compute_with_bias(OpContext& context, [[maybe_unused]] const Tensor& bias) const {
    compute(context);
    return false;
  }
};
using ProductMaker = std::unique_ptr<Product> (*)(const Node&);

std::unique_ptr<Product> make_cpu_product(const Node& node);
#ifdef ACTORFLOW_CUDA
std::unique_ptr<Product> make_cuda_product(const Node& node);
#endif

}  // namespace actorflow
