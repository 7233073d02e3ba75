#include "bench/training/onednn_convs.h"

#include <algorithm>
#include <limits>

#include "bench/harness.h"
#include "kernels/devices/onednn.h"

namespace actorflow::bench {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc floats(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

// One way to convolve a shape.
struct Way {
  Way(const ConvShape& s, dnnl::algorithm how, Tag tag)
      : algorithm(how),
        images(floats({s.batch, s.in, s.rows.input, s.columns.input}, tag)),
        outputs(floats({s.batch, s.out, s.rows.output, s.columns.output}, tag)),
        filter(floats({s.out, s.in, s.rows.window, s.columns.window}, Tag::any)),
        bias(floats({s.out}, Tag::a)),
        strides{s.rows.stride, s.columns.stride},
        before{s.rows.before, s.columns.before},
        after{s.rows.after(), s.columns.after()},
        forward({dnnl::prop_kind::forward_training, algorithm, images, filter, bias, outputs, strides,
                 before, after},
                onednn_attributes(), onednn_engine()) {}

  dnnl::convolution_backward_data::primitive_desc images_gradient() const {
    return {{algorithm, images, filter, outputs, strides, before, after},
            onednn_attributes(),
            onednn_engine(),
            forward};
  }
  dnnl::convolution_backward_weights::primitive_desc filter_gradient() const {
    return {{algorithm, images, filter, bias, outputs, strides, before, after},
            onednn_attributes(),
            onednn_engine(),
            forward};
  }

  dnnl::algorithm algorithm;
  memory::desc images, outputs, filter, bias;
  memory::dims strides, before, after;
  dnnl::convolution_forward::primitive_desc forward;
};

std::vector<Way> ways(const ConvShape& shape) {
  onednn_stream();
  return {Way(shape, dnnl::algorithm::convolution_direct, Tag::any),
          Way(shape, dnnl::algorithm::convolution_auto, Tag::any),
          Way(shape, dnnl::algorithm::convolution_direct, Tag::nhwc)};
}

}  // namespace

void OneDnnConvs::add(const ConvShape& shape, bool with_images_gradient) {
  std::vector<Call> forward, filter, images;
  for (const Way& way : ways(shape)) {
    const auto& f = way.forward;
    forward.push_back(call(dnnl::convolution_forward(f), {{DNNL_ARG_SRC, f.src_desc()},
                                                          {DNNL_ARG_WEIGHTS, f.weights_desc()},
                                                          {DNNL_ARG_BIAS, f.bias_desc()},
                                                          {DNNL_ARG_DST, f.dst_desc()},
                                                          {DNNL_ARG_SCRATCHPAD, f.scratchpad_desc()}}));
    const auto w = way.filter_gradient();
    filter.push_back(
        call(dnnl::convolution_backward_weights(w), {{DNNL_ARG_SRC, w.src_desc()},
                                                     {DNNL_ARG_DIFF_WEIGHTS, w.diff_weights_desc()},
                                                     {DNNL_ARG_DIFF_BIAS, w.diff_bias_desc()},
                                                     {DNNL_ARG_DIFF_DST, w.diff_dst_desc()},
                                                     {DNNL_ARG_SCRATCHPAD, w.scratchpad_desc()}}));
    if (!with_images_gradient) continue;
    const auto d = way.images_gradient();
    images.push_back(
        call(dnnl::convolution_backward_data(d), {{DNNL_ARG_DIFF_SRC, d.diff_src_desc()},
                                                  {DNNL_ARG_WEIGHTS, d.weights_desc()},
                                                  {DNNL_ARG_DIFF_DST, d.diff_dst_desc()},
                                                  {DNNL_ARG_SCRATCHPAD, d.scratchpad_desc()}}));
  }
  for (auto* candidates : {&forward, &filter, &images}) add_fastest(std::move(*candidates));
}

void OneDnnConvs::run() {
  for (auto& call : calls_) call.primitive.execute(onednn_stream(), call.arguments);
}

void OneDnnConvs::add_fastest(std::vector<Call> candidates) {
  Call* fastest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (Call& candidate : candidates)
    for (int i = 0; i < 4; ++i) {
      const double seconds =
          seconds_of([&] { candidate.primitive.execute(onednn_stream(), candidate.arguments); });
      if (seconds < least) least = seconds, fastest = &candidate;
    }
  if (fastest) calls_.push_back(*fastest);
}

OneDnnConvs::Call OneDnnConvs::call(const dnnl::primitive& primitive,
                                    const std::vector<std::pair<int, memory::desc>>& arguments) {
  Call made{primitive, {}};
  for (const auto& [argument, layout] : arguments) {
    const auto elements = static_cast<std::int64_t>(layout.get_size() / sizeof(float)) + 1;
    Tensor tensor = Tensor::allocate(DType::float32, {elements}, cpu_device().allocator());
    std::ranges::fill(tensor.mutable_values<float>(), 0.01F);
    made.arguments.emplace(argument, memory(layout, onednn_engine(), tensor.mutable_data()));
    tensors_.push_back(tensor);
  }
  return made;
}

}  // namespace actorflow::bench
