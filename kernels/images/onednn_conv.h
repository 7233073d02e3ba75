// Convolution by oneDNN, without its headers.
#pragma once

#include <memory>

#include "dataflow/graph/precision.h"
#include "kernels/images/conv.h"

namespace actorflow {

// float32 on the CPU, with factors rounded to bfloat16 if the precision allows it and the CPU is faster
// then. Keeps the primitives that oneDNN makes for a shape. Images stay in plain memory; filters are
// converted to oneDNN's layout and back in each call, which costs little beside the convolution. The
// result's bits depend on shape and inputs alone. Thread-safe. REQUIRES: float32 tensors on the host,
// none of them empty.
class OneDnnConv final : public ConvBackend {
 public:
  explicit OneDnnConv(Precision precision);
  ~OneDnnConv() override;

  void forward(const ConvShape& shape, const Tensor& images, const Tensor& filter, const Tensor* bias,
               bool relu, Tensor& output, const OpContext& c) const override;
  void backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                      Tensor& images_gradient, const OpContext& c) const override;
  void backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                       Tensor& filter_gradient, Tensor* bias_gradient,
                       const OpContext& c) const override;

 private:
  Precision precision_;
  struct Primitives;
  std::unique_ptr<Primitives> primitives_;
};

}  // namespace actorflow
