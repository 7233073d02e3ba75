// The convolutions of a step, alone in oneDNN and as fast as it can: for each one oneDNN's layouts or
// plain ones, and oneDNN's algorithm or the direct one, whichever is the fastest here.
#pragma once

#include <dnnl.hpp>
#include <unordered_map>
#include <vector>

#include "kernels/images/conv.h"

namespace actorflow::bench {

// On the calling thread; not thread-safe.
class OneDnnConvs {
 public:
  // Adds a convolution with bias, its filter's gradient and, if wanted, its images' gradient. Each has
  // tensors of its own, as in a step.
  void add(const ConvShape& shape, bool with_images_gradient);
  // Computes all of them once.
  void run();

 private:
  using Arguments = std::unordered_map<int, dnnl::memory>;
  struct Call {
    dnnl::primitive primitive;
    Arguments arguments;
  };

  void add_fastest(std::vector<Call> candidates);
  Call call(const dnnl::primitive& primitive,
            const std::vector<std::pair<int, dnnl::memory::desc>>& arguments);

  std::vector<Call> calls_;
  std::vector<Tensor> tensors_;
};

}  // namespace actorflow::bench
