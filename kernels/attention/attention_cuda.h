// Attention on a GPU: a block of threads takes 32 queries, or for the gradients of key and value 32
// keys, and goes over the tiles of the other side, so that nothing of the size [queries, keys] is in
// memory. Dao et al., FlashAttention (2022). All sums have an order that follows from the shapes. For
// .cu files in a build with CUDA.
#pragma once

#include <type_traits>

#include "kernels/attention/attention_backward_cuda.h"
#include "kernels/attention/attention_forward_cuda.h"
#include "kernels/attention/plain_arithmetic.h"
#include "kernels/attention/tensor_cores.h"

namespace actorflow {
namespace attention {

// Whether a kernel was compiled for GPUs that multiply tf32.
template <class... Parameters>
bool has_tf32(void (*kernel)(Parameters...)) {
  cudaFuncAttributes attributes;
  check_cuda(cudaFuncGetAttributes(&attributes, kernel), "ask for the properties of a kernel");
  return attributes.ptxVersion >= 80;
}

}  // namespace attention

// As CpuAttention. Factors of float32 are rounded to tf32 if the precision allows it.
class CudaAttention {
 public:
  explicit CudaAttention(Precision precision) : rounds_(precision != Precision::float32) {}

  // Of AttentionForward or AttentionBackward.
  template <template <class> class Task, class T>
  void run(OpContext& c, const Task<T>& task) const {
    using namespace attention;
    if constexpr (std::is_same_v<T, float>)
      if (rounds_ && has_tf32(forward_kernel<TensorCores, 32>)) return run_on_cuda<TensorCores>(c, task);
    run_on_cuda<PlainArithmetic<T>>(c, task);
  }

 private:
  const bool rounds_;
};

}  // namespace actorflow
