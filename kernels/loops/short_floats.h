// Kernels of float32 for the floating types of 16 bits: the inputs are widened, the result is rounded.
#pragma once

#include <functional>

#include "kernels/core/kernel.h"

namespace actorflow {

// A tensor of float16 or bfloat16 as float32, in memory of the device.
Tensor widened(Device& device, const Tensor& tensor);
// A tensor of float32 rounded to float16 or bfloat16.
Tensor rounded(Device& device, const Tensor& tensor, DType dtype);

// Calls compute(context) with the inputs as float32 where they are of 16 bits, and rounds its outputs to
// the dtype of the first input; else calls it as it is. Throws if the first input has 16 bits and
// another floating input has another dtype. REQUIRES: its outputs are of its first input's dtype.
void compute_in_float32(OpContext& context, const std::function<void(OpContext&)>& compute);

template <void (*kernel)(OpContext&)>
void in_float32(OpContext& context) {
  compute_in_float32(context, kernel);
}

}  // namespace actorflow
