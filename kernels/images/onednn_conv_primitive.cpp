#include "kernels/images/onednn_conv_primitive.h"

#include <cstdint>
#include <utility>

#include "kernels/products/bfloat16.h"

namespace actorflow {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Forward = dnnl::convolution_forward;
using BackpropInput = dnnl::convolution_backward_data;
using BackpropFilter = dnnl::convolution_backward_weights;
using Key = OneDnnConvKey;
using Direction = Key::Direction;

constexpr auto f32 = memory::data_type::f32;

// oneDNN's view of a ConvShape; its dimensions are [batch, channels, height, width] and [out, in,
// height, width] in whatever order they lie in memory.
struct Layouts {
  explicit Layouts(const Key& key) : Layouts(key.shape, key) {}
  Layouts(const ConvShape& s, const Key& key)
      : images({s.batch, s.in, s.rows.input, s.columns.input}, type(key, Direction::backprop_input),
               Tag::nhwc),
        outputs({s.batch, s.out, s.rows.output, s.columns.output}, type(key, Direction::forward),
                Tag::nhwc),
        plain_filter({s.out, s.in, s.rows.window, s.columns.window}, f32, Tag::hwio),
        best_filter({s.out, s.in, s.rows.window, s.columns.window},
                    type(key, Direction::backprop_filter), Tag::any),
        bias({s.out}, f32, Tag::a),
        strides{s.rows.stride, s.columns.stride},
        before{s.rows.before, s.columns.before},
        after{s.rows.after(), s.columns.after()} {}

  // Of what one direction writes and the others multiply.
  static memory::data_type type(const Key& key, Direction writes) {
    return key.bf16 && key.direction != writes ? memory::data_type::bf16 : f32;
  }

  memory::desc images, outputs, plain_filter, best_filter, bias;
  memory::dims strides, before, after;
};

// Direct: oneDNN's other algorithms are slower on few channels, or not for plain images.
constexpr auto direct = dnnl::algorithm::convolution_direct;

Forward::primitive_desc describe_forward(const Key& key) {
  const Layouts l(key);
  constexpr auto kind = dnnl::prop_kind::forward_training;
  const Forward::desc conv = key.bias ? Forward::desc(kind, direct, l.images, l.best_filter, l.bias,
                                                      l.outputs, l.strides, l.before, l.after)
                                      : Forward::desc(kind, direct, l.images, l.best_filter, l.outputs,
                                                      l.strides, l.before, l.after);
  return {conv, onednn_attributes(), onednn_engine()};
}

// oneDNN wants the forward primitive as a hint.
Forward::primitive_desc hint(const Key& key) {
  return describe_forward({key.shape, Direction::forward, false, key.bf16});
}

BackpropInput::primitive_desc describe_backprop_input(const Key& key) {
  const Layouts l(key);
  const BackpropInput::desc conv(direct, l.images, l.best_filter, l.outputs, l.strides, l.before,
                                 l.after);
  return {conv, onednn_attributes(), onednn_engine(), hint(key)};
}

BackpropFilter::primitive_desc describe_backprop_filter(const Key& key) {
  const Layouts l(key);
  const BackpropFilter::desc conv = key.bias
                                        ? BackpropFilter::desc(direct, l.images, l.best_filter, l.bias,
                                                               l.outputs, l.strides, l.before, l.after)
                                        : BackpropFilter::desc(direct, l.images, l.best_filter,
                                                               l.outputs, l.strides, l.before, l.after);
  return {conv, onednn_attributes(), onednn_engine(), hint(key)};
}

std::size_t size_of(const memory& user) {
  const std::size_t size_bytes = user.get_desc().get_size();
  return (size_bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

// Hands out the memory of one call.
class Scratch {
 public:
  explicit Scratch(void* memory) : next_(static_cast<std::byte*>(memory)) {}
  void* take(const memory& user) { return std::exchange(next_, next_ + size_of(user)); }

 private:
  std::byte* next_;
};

bool is_rounded(const memory& data) { return data.get_desc().data_type() == memory::data_type::bf16; }

// Images or outputs: as they are, or rounded.
void set_data(memory& to, const float* data, Scratch& scratch) {
  if (!is_rounded(to)) return to.set_data_handle(const_cast<float*>(data));
  auto* const rounded = static_cast<std::uint16_t*>(scratch.take(to));
  round_to_bf16(data, static_cast<std::int64_t>(to.get_desc().get_size() / sizeof(std::uint16_t)),
                rounded);
  to.set_data_handle(rounded);
}

dnnl::reorder reorder(const memory& from, const memory& to) {
  return dnnl::reorder(dnnl::reorder::primitive_desc(from, to, onednn_attributes()));
}

}  // namespace

OneDnnConvPrimitive::OneDnnConvPrimitive(const Key& key) {
  onednn_stream();
  switch (key.direction) {
    case Direction::forward: {
      const auto desc = describe_forward(key);
      prepare(key, Forward(desc), desc.scratchpad_desc(), desc.weights_desc());
      break;
    }
    case Direction::backprop_input: {
      const auto desc = describe_backprop_input(key);
      prepare(key, BackpropInput(desc), desc.scratchpad_desc(), desc.weights_desc());
      break;
    }
    case Direction::backprop_filter: {
      const auto desc = describe_backprop_filter(key);
      prepare(key, BackpropFilter(desc), desc.scratchpad_desc(), desc.diff_weights_desc());
      break;
    }
  }
}

void OneDnnConvPrimitive::run(const float* images, const float* filter, const float* bias,
                              const float* outputs, Allocator& allocator) {
  const BufferRef buffer = allocator.allocate(scratch_bytes_);
  Scratch scratch(buffer->data());
  scratchpad_.set_data_handle(scratch.take(scratchpad_));
  set_data(images_, images, scratch);
  set_data(outputs_, outputs, scratch);
  if (bias_) bias_.set_data_handle(const_cast<float*>(bias));
  plain_filter_.set_data_handle(const_cast<float*>(filter));
  filter_.set_data_handle(reorder_ ? scratch.take(filter_) : const_cast<float*>(filter));
  if (reorder_ && !writes_filter_) reorder_->execute(onednn_stream(), plain_filter_, filter_);
  primitive_.execute(onednn_stream(), arguments_);
  if (reorder_ && writes_filter_) reorder_->execute(onednn_stream(), filter_, plain_filter_);
}

void OneDnnConvPrimitive::prepare(const Key& key, const dnnl::primitive& primitive,
                                  const memory::desc& scratchpad, const memory::desc& filter) {
  const Layouts l(key);
  primitive_ = primitive;
  writes_filter_ = key.direction == Direction::backprop_filter;
  images_ = without_data(l.images);
  outputs_ = without_data(l.outputs);
  plain_filter_ = without_data(l.plain_filter);
  filter_ = without_data(filter);
  scratchpad_ = without_data(scratchpad);
  const bool gives_images = key.direction == Direction::backprop_input;
  const bool gives_outputs = key.direction == Direction::forward;
  arguments_ = {{gives_images ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, images_},
                {gives_outputs ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, outputs_},
                {writes_filter_ ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, filter_},
                {DNNL_ARG_SCRATCHPAD, scratchpad_}};
  if (key.bias) {
    bias_ = without_data(l.bias);
    arguments_.emplace(writes_filter_ ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS, bias_);
  }
  if (filter != l.plain_filter)
    reorder_ = writes_filter_ ? reorder(filter_, plain_filter_) : reorder(plain_filter_, filter_);
  scratch_bytes_ = size_of(scratchpad_) + (reorder_ ? size_of(filter_) : 0);
  for (const memory& data : {images_, outputs_})
    if (is_rounded(data)) scratch_bytes_ += size_of(data);
}

}  // namespace actorflow
