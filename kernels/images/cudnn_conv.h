// Convolution by cuDNN, without its headers.
#pragma once

#include <memory>

#include "dataflow/graph/precision.h"
#include "kernels/images/conv.h"

namespace actorflow {

enum class ConvDirection : std::uint8_t;
struct ConvTensors;

// float32 on the GPU, in float32 arithmetic or, if the precision allows it, of factors that are rounded
// to TF32 or bfloat16, by algorithms that give the same bits each time (cudnn_algorithm.h). Thread-safe.
// REQUIRES: float32 tensors on a CUDA device, none of them empty.
class CudnnConv final : public ConvBackend {
 public:
  explicit CudnnConv(Precision precision);
  ~CudnnConv() override;

  void forward(const ConvShape& shape, const Tensor& images, const Tensor& filter, const Tensor* bias,
               bool relu, Tensor& output, const OpContext& c) const override;
  void backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                      Tensor& images_gradient, const OpContext& c) const override;
  void backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                       Tensor& filter_gradient, Tensor* bias_gradient,
                       const OpContext& c) const override;

 private:
  struct Algorithms;
  void run(Device& device, const ConvShape& shape, ConvDirection direction,
           const ConvTensors& tensors) const;

  std::unique_ptr<Algorithms> algorithms_;
};

}  // namespace actorflow
