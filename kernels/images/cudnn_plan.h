// Execution plans of cuDNN's graph API for one convolution. Included by CUDA code only, where the build
// has cuDNN.
//
// The older calls (cudnnConvolutionForward and similar) search for an engine each time: 100 to 500 us of
// the host's time for each convolution (H100, cuDNN 9). A plan is made once, and running it takes a few
// us.
#pragma once

#include <cudnn.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataflow/graph/precision.h"
#include "kernels/images/conv.h"

namespace actorflow {

// A descriptor of cuDNN's graph API, destroyed with this object.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);
  ~CudnnDescriptor();
  CudnnDescriptor(CudnnDescriptor&& other) noexcept;
  CudnnDescriptor& operator=(CudnnDescriptor&&) = delete;

  cudnnBackendDescriptor_t get() const { return handle_; }
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
           const void* values);
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  void finalize();

 private:
  cudnnBackendDescriptor_t handle_ = nullptr;
};

enum class ConvDirection : std::uint8_t { forward, backprop_input, backprop_filter };

// One shape in one direction, of images padded alike on both sides. The images are [batch, rows,
// columns, channels] as ours, the filter is [out, rows, columns, in]. May be run by several threads at
// once, each with memory of its own.
class CudnnConvPlan {
 public:
  // Takes the first engine of cuDNN's choice that gives the same bits each time and has the precision:
  // float32, or TF32 for both others, because cuDNN rounds to bfloat16 only what is stored as such.
  // Throws unimplemented if there is none. The images are padded alike, for of the engines that cuDNN 9
  // offers for other padding some add up the wrong products.
  CudnnConvPlan(cudnnHandle_t handle, const ConvShape& padded, ConvDirection direction,
                Precision precision);

  std::size_t workspace_bytes() const { return static_cast<std::size_t>(workspace_bytes_); }
  // Launches the convolution: reads two of the three tensors and writes the one that the direction
  // names. All are aligned to 16 bytes.
  void run(cudnnHandle_t handle, const void* images, const void* filter, const void* outputs,
           void* workspace) const;

 private:
  CudnnDescriptor plan_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace actorflow
