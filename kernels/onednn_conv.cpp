#include "kernels/onednn_conv.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "kernels/onednn.h"
#include "kernels/relu.h"
#include "kernels/vectorised.h"

namespace actorflow {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Forward = dnnl::convolution_forward;
using BackpropInput = dnnl::convolution_backward_data;
using BackpropFilter = dnnl::convolution_backward_weights;

enum class Direction { forward, backprop_input, backprop_filter };

struct Key {
  ConvShape shape;
  Direction direction;
  bool bias;
  bool operator==(const Key&) const = default;
};

memory::desc floats(const memory::dims& dims, Tag tag) { return {dims, memory::data_type::f32, tag}; }

// oneDNN's view of a ConvShape; its dimensions are [batch, channels, height, width] and [out, in,
// height, width] in whatever order they lie in memory.
struct Layouts {
  explicit Layouts(const ConvShape& s)
      : images(floats({s.batch, s.in, s.rows.input, s.columns.input}, Tag::nhwc)),
        outputs(floats({s.batch, s.out, s.rows.output, s.columns.output}, Tag::nhwc)),
        plain_filter(floats({s.out, s.in, s.rows.window, s.columns.window}, Tag::hwio)),
        best_filter(floats({s.out, s.in, s.rows.window, s.columns.window}, Tag::any)),
        bias(floats({s.out}, Tag::a)),
        strides{s.rows.stride, s.columns.stride},
        before{s.rows.before, s.columns.before},
        after{s.rows.after(), s.columns.after()} {}

  memory::desc images, outputs, plain_filter, best_filter, bias;
  memory::dims strides, before, after;
};

// Direct: oneDNN's other algorithms are slower on few channels, or not for plain images.
constexpr auto direct = dnnl::algorithm::convolution_direct;

Forward::primitive_desc describe_forward(const Key& key) {
  const Layouts l(key.shape);
  constexpr auto kind = dnnl::prop_kind::forward_training;
  const Forward::desc conv = key.bias ? Forward::desc(kind, direct, l.images, l.best_filter, l.bias,
                                                      l.outputs, l.strides, l.before, l.after)
                                      : Forward::desc(kind, direct, l.images, l.best_filter, l.outputs,
                                                      l.strides, l.before, l.after);
  return {conv, onednn_attributes(), onednn_engine()};
}

// oneDNN wants the forward primitive as a hint.
Forward::primitive_desc hint(const Key& key) {
  return describe_forward({key.shape, Direction::forward, false});
}

BackpropInput::primitive_desc describe_backprop_input(const Key& key) {
  const Layouts l(key.shape);
  const BackpropInput::desc conv(direct, l.images, l.best_filter, l.outputs, l.strides, l.before,
                                 l.after);
  return {conv, onednn_attributes(), onednn_engine(), hint(key)};
}

BackpropFilter::primitive_desc describe_backprop_filter(const Key& key) {
  const Layouts l(key.shape);
  const BackpropFilter::desc conv = key.bias
                                        ? BackpropFilter::desc(direct, l.images, l.best_filter, l.bias,
                                                               l.outputs, l.strides, l.before, l.after)
                                        : BackpropFilter::desc(direct, l.images, l.best_filter,
                                                               l.outputs, l.strides, l.before, l.after);
  return {conv, onednn_attributes(), onednn_engine(), hint(key)};
}

std::size_t aligned(std::size_t size_bytes) {
  return (size_bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

// The convolution for one shape and direction, by one thread at a time.
class ConvPrimitive {
 public:
  explicit ConvPrimitive(const Key& key) {
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

  // The arguments in the order of oneDNN's numbers for them; bias may be null. What the direction gives
  // is written.
  void run(const float* images, const float* filter, const float* bias, const float* outputs,
           Allocator& allocator) {
    const std::size_t scratch_bytes = aligned(scratchpad_.get_desc().get_size());
    const BufferRef scratch = allocator.allocate(scratch_bytes + filter_.get_desc().get_size());
    scratchpad_.set_data_handle(scratch->data());
    images_.set_data_handle(const_cast<float*>(images));
    outputs_.set_data_handle(const_cast<float*>(outputs));
    if (bias_) bias_.set_data_handle(const_cast<float*>(bias));
    plain_filter_.set_data_handle(const_cast<float*>(filter));
    filter_.set_data_handle(reorder_ ? static_cast<std::byte*>(scratch->data()) + scratch_bytes
                                     : static_cast<void*>(const_cast<float*>(filter)));
    if (reorder_ && !writes_filter_) reorder_->execute(onednn_stream(), plain_filter_, filter_);
    primitive_.execute(onednn_stream(), arguments_);
    if (reorder_ && writes_filter_) reorder_->execute(onednn_stream(), filter_, plain_filter_);
  }

 private:
  void prepare(const Key& key, const dnnl::primitive& primitive, const memory::desc& scratchpad,
               const memory::desc& filter) {
    const Layouts l(key.shape);
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
  }

  static dnnl::reorder reorder(const memory& from, const memory& to) {
    return dnnl::reorder(dnnl::reorder::primitive_desc(from, to, onednn_attributes()));
  }

  dnnl::primitive primitive_;
  std::optional<dnnl::reorder> reorder_;
  bool writes_filter_ = false;
  memory images_, outputs_, plain_filter_, filter_, bias_, scratchpad_;
  std::unordered_map<int, memory> arguments_;
};

}  // namespace

struct OneDnnConv::Primitives {
  PrimitiveCache<Key, ConvPrimitive> cache;

  void run(const Key& key, const float* images, const float* filter, const float* bias,
           const float* outputs, Allocator& allocator) {
    try {
      cache.with(
          key, [&] { return std::make_unique<ConvPrimitive>(key); },
          [&](ConvPrimitive& primitive) { primitive.run(images, filter, bias, outputs, allocator); });
    } catch (const dnnl::error& error) {
      rethrow_onednn_error("convolve images " + key.shape.images().to_string() + " and filter " +
                               key.shape.filter().to_string(),
                           error);
    }
  }
};

namespace {

const float* floats_of(const Tensor& tensor) { return static_cast<const float*>(tensor.data()); }
const float* floats_of(const Tensor* tensor) { return tensor ? floats_of(*tensor) : nullptr; }

// A batch divided into parts that are worth a thread's while, by the shape alone.
class BatchParts {
 public:
  explicit BatchParts(const ConvShape& shape) : shape_(shape) {
    constexpr double min_flops = 15e6;
    constexpr double max_parts = 4;
    const double flops = 2.0 * static_cast<double>(shape.filter_elements()) *
                         static_cast<double>(shape.batch * shape.rows.output * shape.columns.output);
    const double parts = std::min({flops / min_flops, max_parts, static_cast<double>(shape.batch)});
    count_ = std::max(1, static_cast<int>(parts));
  }

  int count() const { return count_; }
  ConvShape shape(int part) const {
    ConvShape piece = shape_;
    piece.batch = first(part + 1) - first(part);
    return piece;
  }
  // Where the part begins in a tensor of all images or outputs.
  std::int64_t offset(const Tensor& all, int part) const {
    return first(part) * (all.elements() / shape_.batch);
  }
  const float* at(const Tensor& all, int part) const { return floats_of(all) + offset(all, part); }

 private:
  std::int64_t first(int part) const { return shape_.batch * part / count_; }

  ConvShape shape_;
  int count_ = 1;
};

void add(const float* from, std::int64_t count, float* sums) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) sums[i] += from[i];
  });
}

void relu_in_place(float* y, std::int64_t count) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = Relu()(y[i]);
  });
}

}  // namespace

OneDnnConv::OneDnnConv() : primitives_(std::make_unique<Primitives>()) {}

OneDnnConv::~OneDnnConv() = default;

void OneDnnConv::forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                         const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const {
  auto* const y = static_cast<float*>(output.mutable_data());
  const BatchParts parts(shape);
  c.parallel(parts.count(), [&](int part) {
    const ConvShape piece = parts.shape(part);
    float* const results = y + parts.offset(output, part);
    primitives_->run({piece, Direction::forward, bias != nullptr}, parts.at(images, part),
                     floats_of(filter), floats_of(bias), results, c.device().allocator());
    // Not a post-op of oneDNN, which would turn NaN into 0.
    if (relu) relu_in_place(results, piece.outputs().elements());
  });
}

void OneDnnConv::backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                                Tensor& images_gradient, const OpContext& c) const {
  const BatchParts parts(shape);
  c.parallel(parts.count(), [&](int part) {
    primitives_->run({parts.shape(part), Direction::backprop_input, false},
                     parts.at(images_gradient, part), floats_of(filter), nullptr,
                     parts.at(gradient, part), c.device().allocator());
  });
}

// Each part has a gradient of its own; they are added in their order.
void OneDnnConv::backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                                 Tensor& filter_gradient, Tensor* bias_gradient,
                                 const OpContext& c) const {
  const BatchParts parts(shape);
  const std::int64_t filter_size = shape.filter_elements();
  const std::int64_t size = filter_size + (bias_gradient ? shape.out : 0);
  Allocator& allocator = c.device().allocator();
  const BufferRef others =
      allocator.allocate(static_cast<std::size_t>(size * (parts.count() - 1)) * sizeof(float));
  auto* const filter = static_cast<float*>(filter_gradient.mutable_data());
  auto* const bias = bias_gradient ? static_cast<float*>(bias_gradient->mutable_data()) : nullptr;
  const auto filter_of = [&](int part) {
    return part == 0 ? filter : static_cast<float*>(others->data()) + size * (part - 1);
  };
  const auto bias_of = [&](int part) {
    return part == 0 || !bias ? bias : filter_of(part) + filter_size;
  };
  c.parallel(parts.count(), [&](int part) {
    primitives_->run({parts.shape(part), Direction::backprop_filter, bias != nullptr},
                     parts.at(images, part), filter_of(part), bias_of(part), parts.at(gradient, part),
                     allocator);
  });
  for (int part = 1; part < parts.count(); ++part) {
    add(filter_of(part), filter_size, filter);
    if (bias) add(bias_of(part), shape.out, bias);
  }
}

}  // namespace actorflow
