// Convolution by cuDNN, without its headers.
#pragma once

#include "dataflow/graph/precision.h"
#include "kernels/images/conv.h"

namespace actorflow {

// float32 on the GPU, in float32 arithmetic or, if the precision allows it, TF32, by algorithms that
// give the same bits each time. All share the plans that cuDNN makes for a shape. Transposes filters to
// cuDNN's order, and pads images whose padding differs between the two sides. Thread-safe. REQUIRES:
// float32 tensors on a CUDA device, none of them empty.
class CudnnConv final : public ConvBackend {
 public:
  explicit CudnnConv(Precision precision);

  void forward(const ConvShape& shape, const Tensor& images, const Tensor& filter, const Tensor* bias,
               bool relu, Tensor& output, const OpContext& c) const override;
  void backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                      Tensor& images_gradient, const OpContext& c) const override;
  void backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                       Tensor& filter_gradient, Tensor* bias_gradient,
                       const OpContext& c) const override;

 private:
  Precision precision_;
};

}  // namespace actorflow
