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
#include <vector>

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

// One shape in one direction. The images are [batch, rows, columns, channels] as ours, the filter is
// [out, rows, columns, in]. The two tensors that are read are of one type, the one that is written is
// float32. May be run by several threads at once, each with memory of its own.
class CudnnConvPlan {
 public:
  std::size_t workspace_bytes() const { return static_cast<std::size_t>(workspace_bytes_); }
  // Launches the convolution: reads two of the three tensors and writes the one that the direction
  // names. All are aligned to 16 bytes.
  void run(cudnnHandle_t handle, const void* images, const void* filter, const void* outputs,
           void* workspace) const;

 private:
  friend std::vector<CudnnConvPlan> cudnn_conv_plans(cudnnHandle_t, const ConvShape&, ConvDirection,
                                                     DType, bool, std::size_t);
  explicit CudnnConvPlan(CudnnDescriptor plan);

  CudnnDescriptor plan_;
  std::int64_t workspace_bytes_ = 0;
};

// The first engines of cuDNN's choice, at most so many, that give the same bits each time and need not
// be compiled first. `factors` is the type of the tensors that are read: float32, which may be rounded
// to TF32 only if `tf32`, or bfloat16. Empty if there is none.
std::vector<CudnnConvPlan> cudnn_conv_plans(cudnnHandle_t handle, const ConvShape& shape,
                                            ConvDirection direction, DType factors, bool tf32,
                                            std::size_t most);

}  // namespace actorflow
