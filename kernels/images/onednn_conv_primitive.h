// A convolution of oneDNN's, as OneDnnConv keeps it. For .cpp files only.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>

#include "kernels/devices/onednn.h"
#include "kernels/images/conv.h"

namespace actorflow {

// The key of a primitive.
struct OneDnnConvKey {
  enum class Direction { forward, backprop_input, backprop_filter };

  ConvShape shape;
  Direction direction;
  bool bias;
  bool bf16;  // factors are rounded to bfloat16
  bool operator==(const OneDnnConvKey&) const = default;
};

// The convolution for one shape and direction, by one thread at a time.
class OneDnnConvPrimitive {
 public:
  // Throws dnnl::error.
  explicit OneDnnConvPrimitive(const OneDnnConvKey& key);

  // The tensors in the order of oneDNN's argument numbers; bias may be null. Writes the one that the
  // direction names. Throws dnnl::error, or resource_exhausted.
  void run(const float* images, const float* filter, const float* bias, const float* outputs,
           Allocator& allocator);

 private:
  void prepare(const OneDnnConvKey& key, const dnnl::primitive& primitive,
               const dnnl::memory::desc& scratchpad, const dnnl::memory::desc& filter);

  dnnl::primitive primitive_;
  std::optional<dnnl::reorder> reorder_;
  bool writes_filter_ = false;
  std::size_t scratch_bytes_ = 0;
  dnnl::memory images_, outputs_, plain_filter_, filter_, bias_, scratchpad_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace actorflow
