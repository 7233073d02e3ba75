// A product of oneDNN's, as MatMul and BatchMatMul keep it. For .cpp files only.
#pragma once

#include <cstddef>
#include <unordered_map>

#include "kernels/devices/device.h"
#include "kernels/devices/onednn.h"
#include "kernels/products/factors.h"

namespace actorflow {

inline dnnl::memory::data_type type_of(const Factors& factors) {
  return factors.bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

// A product of one description, for one thread at a time.
class OneDnnProduct {
 public:
  explicit OneDnnProduct(const dnnl::matmul::primitive_desc& desc)
      : primitive_(desc),
        scratch_bytes_(desc.scratchpad_desc().get_size()),
        a_(without_data(desc.src_desc())),
        b_(without_data(desc.weights_desc())),
        output_(without_data(desc.dst_desc())),
        scratchpad_(without_data(desc.scratchpad_desc())),
        arguments_{{DNNL_ARG_SRC, a_},
                   {DNNL_ARG_WEIGHTS, b_},
                   {DNNL_ARG_DST, output_},
                   {DNNL_ARG_SCRATCHPAD, scratchpad_}} {}

  // Computes the product of a and b, which have the type of the description.
  void run(const void* a, const void* b, float* output, Allocator& allocator) {
    BufferRef scratch;
    if (scratch_bytes_ > 0) scratch = allocator.allocate(scratch_bytes_);
    a_.set_data_handle(const_cast<void*>(a));
    b_.set_data_handle(const_cast<void*>(b));
    output_.set_data_handle(output);
    scratchpad_.set_data_handle(scratch ? scratch->data() : nullptr);
    primitive_.execute(onednn_stream(), arguments_);
  }

 private:
  dnnl::matmul primitive_;
  std::size_t scratch_bytes_;
  dnnl::memory a_, b_, output_, scratchpad_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace actorflow
