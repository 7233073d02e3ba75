// How a convolution is made with cuDNN: a plan, and what its tensors need before and after. Included by
// CUDA code only, where the build has cuDNN.
#pragma once

#include <memory>

#include "dataflow/graph/precision.h"
#include "kernels/devices/device.h"
#include "kernels/images/cudnn_plan.h"

namespace actorflow {

// The tensors of one convolution: those that are read, and the one that the direction writes.
struct ConvTensors {
  const float *images = nullptr, *filter = nullptr, *outputs = nullptr;
  float* result = nullptr;
};

// Immutable: calls on several threads share it.
class CudnnAlgorithm {
 public:
  // With `pads` the plan is of images that have their padding already; `factors` is what it reads.
  CudnnAlgorithm(CudnnConvPlan plan, ConvDirection direction, DType factors, bool pads)
      : plan_(std::move(plan)), direction_(direction), factors_(factors), pads_(pads) {}

  // Launches the convolution: rounds what is read where the plan wants it so, transposes filters to
  // cuDNN's order, and pads images.
  void run(cudnnHandle_t handle, Device& device, const ConvShape& shape,
           const ConvTensors& tensors) const;

 private:
  template <class Factor>
  void run_with(cudnnHandle_t handle, Device& device, const ConvShape& shape,
                const ConvTensors& tensors) const;

  CudnnConvPlan plan_;
  ConvDirection direction_;
  DType factors_;
  bool pads_;
};

// The fastest of cuDNN's first choices, by a measurement at the first call for this shape, direction and
// precision on this device, which takes some milliseconds and writes the result several times. While a
// stream is captured it is the first choice. All give the same bits each time, but not one another's.
// Throws unimplemented if cuDNN has none. Thread-safe.
std::shared_ptr<const CudnnAlgorithm> cudnn_algorithm(cudnnHandle_t handle, Device& device,
                                                      const ConvShape& shape, ConvDirection direction,
                                                      Precision precision, const ConvTensors& tensors);

}  // namespace actorflow
