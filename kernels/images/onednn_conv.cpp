#include "kernels/images/onednn_conv.h"

#include <algorithm>
#include <string>

#include "kernels/images/onednn_conv_primitive.h"
#include "kernels/loops/relu.h"
#include "kernels/loops/vectorised.h"
#include "kernels/products/bfloat16.h"

namespace actorflow {
namespace {

using Key = OneDnnConvKey;
using Direction = Key::Direction;

}  // namespace

struct OneDnnConv::Primitives {
  PrimitiveCache<Key, OneDnnConvPrimitive> cache;

  void run(const Key& key, const float* images, const float* filter, const float* bias,
           const float* outputs, Allocator& allocator) {
    try {
      cache.with(
          key, [&] { return std::make_unique<OneDnnConvPrimitive>(key); },
          [&](OneDnnConvPrimitive& primitive) {
            primitive.run(images, filter, bias, outputs, allocator);
          });
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
  explicit BatchParts(const ConvShape& shape)
      : shape_(shape), images_(shape.batch, std::min(shape.batch, worth(shape)), 4) {}

  int count() const { return images_.count(); }
  ConvShape shape(int part) const {
    ConvShape piece = shape_;
    piece.batch = images_.size(part);
    return piece;
  }
  // Where the part begins in a tensor of all images or outputs.
  std::int64_t offset(const Tensor& all, int part) const {
    return images_.begin(part) * (all.elements() / shape_.batch);
  }
  const float* at(const Tensor& all, int part) const { return floats_of(all) + offset(all, part); }

 private:
  static std::int64_t worth(const ConvShape& shape) {
    constexpr std::int64_t flops_per_part = 15'000'000;
    return 2 * shape.filter_elements() * shape.batch * shape.rows.output * shape.columns.output /
           flops_per_part;
  }

  ConvShape shape_;
  Shares images_;
};

void add(const float* from, std::int64_t count, float* sums) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) sums[i] += from[i];
  });
}

// A convolution is a product of windows [places, window] and filters [window, out].
bool rounds(Precision precision, const ConvShape& s) {
  return rounds_to_bf16(precision, s.batch * s.rows.output * s.columns.output,
                        s.rows.window * s.columns.window * s.in, s.out);
}

void relu_in_place(float* y, std::int64_t count) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) y[i] = Relu()(y[i]);
  });
}

}  // namespace

OneDnnConv::OneDnnConv(Precision precision)
    : precision_(precision), primitives_(std::make_unique<Primitives>()) {}

OneDnnConv::~OneDnnConv() = default;

void OneDnnConv::forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                         const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(filter, c);
  auto* const y = static_cast<float*>(output.mutable_data());
  const BatchParts parts(shape);
  const bool bf16 = rounds(precision_, shape);
  c.parallel(parts.count(), [&](int part) {
    const ConvShape piece = parts.shape(part);
    float* const results = y + parts.offset(output, part);
    primitives_->run({piece, Direction::forward, bias != nullptr, bf16}, parts.at(images, part),
                     floats_of(filter), floats_of(bias), results, c.device().allocator());
    // Not a post-op of oneDNN, which would turn NaN into 0.
    if (relu) relu_in_place(results, piece.outputs().elements());
  });
}

void OneDnnConv::backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                                Tensor& images_gradient, const OpContext& c) const {
  check_for_library(filter, c);
  check_for_library(gradient, c);
  const BatchParts parts(shape);
  const bool bf16 = rounds(precision_, shape);
  c.parallel(parts.count(), [&](int part) {
    primitives_->run({parts.shape(part), Direction::backprop_input, false, bf16},
                     parts.at(images_gradient, part), floats_of(filter), nullptr,
                     parts.at(gradient, part), c.device().allocator());
  });
}

// Each part has a gradient of its own; they are added in their order.
void OneDnnConv::backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                                 Tensor& filter_gradient, Tensor* bias_gradient,
                                 const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(gradient, c);
  const BatchParts parts(shape);
  // oneDNN's filter gradient of few channels is up to three times slower in bfloat16.
  constexpr std::int64_t few_channels = 8;
  const bool bf16 = shape.in >= few_channels && rounds(precision_, shape);
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
    primitives_->run({parts.shape(part), Direction::backprop_filter, bias != nullptr, bf16},
                     parts.at(images, part), filter_of(part), bias_of(part), parts.at(gradient, part),
                     allocator);
  });
  for (int part = 1; part < parts.count(); ++part) {
    add(filter_of(part), filter_size, filter);
    if (bias) add(bias_of(part), shape.out, bias);
  }
}

}  // namespace actorflow
