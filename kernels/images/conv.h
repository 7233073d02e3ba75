// The interface between the kernels of conv.cu and the libraries or loops that convolve.
#pragma once

#include "dataflow/values/check.h"
#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/images/sliding_window.h"

namespace actorflow {

// Images [batch, rows.input, columns.input, in], a filter [rows.window, columns.window, in, out] and
// outputs [batch, rows.output, columns.output, out]; a bias has [out].
struct ConvShape {
  std::int64_t batch = 0, in = 0, out = 0;
  SlidingAxis rows, columns;

  std::int64_t filter_elements() const { return rows.window * columns.window * in * out; }
  Shape images() const { return {batch, rows.input, columns.input, in}; }
  Shape filter() const { return {rows.window, columns.window, in, out}; }
  Shape outputs() const { return {batch, rows.output, columns.output, out}; }
  bool operator==(const ConvShape&) const = default;
};

// A way to convolve. Tensors are on the context's device, of one type and of the shapes that ConvShape
// gives them. Throws resource_exhausted, or internal if a library fails. Thread-safe.
class ConvBackend {
 public:
  virtual ~ConvBackend() = default;
  // Outputs: the cross-correlation of images and filter (which the field calls convolution), plus the
  // bias if there is one, and the relu of that if wanted.
  virtual void forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                       const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const = 0;
  // The gradient of the images, from that of the output.
  virtual void backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                              Tensor& images_gradient, const OpContext& c) const = 0;
  // The gradient of the filter, and that of the bias if wanted.
  virtual void backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                               Tensor& filter_gradient, Tensor* bias_gradient,
                               const OpContext& c) const = 0;
};

// Checks what library backends REQUIRE of a tensor.
inline void check_for_library(const Tensor& tensor, const OpContext& c) {
  ACTORFLOW_CHECK(tensor.dtype() == DType::float32 && tensor.elements() > 0, tensor.describe());
  ACTORFLOW_CHECK(tensor.on_host() == (c.device().type() == DeviceType::cpu), tensor.describe());
}

// Plain sums, element by element, on any device and for float32 and float64: slow, and right for every
// shape, empty ones too. Sums in float64.
class LoopConv final : public ConvBackend {
 public:
  void forward(const ConvShape& shape, const Tensor& images, const Tensor& filter, const Tensor* bias,
               bool relu, Tensor& output, const OpContext& c) const override;
  void backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                      Tensor& images_gradient, const OpContext& c) const override;
  void backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                       Tensor& filter_gradient, Tensor* bias_gradient,
                       const OpContext& c) const override;
};

}  // namespace actorflow
