#ifdef ACTORFLOW_CUDNN

#include "kernels/images/cudnn_conv.h"

#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "dataflow/values/check.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/cudnn.h"
#include "kernels/images/cudnn_plan.h"
#include "kernels/images/padded_images.h"
#include "kernels/loops/add_bias.h"
#include "kernels/loops/fold_columns.h"
#include "kernels/loops/packs.h"
#include "kernels/loops/relu.h"

namespace actorflow {
namespace {

// The shape of the images as the plan sees them: where they are padded before, as large as they are
// then.
ConvShape shape_for_cudnn(const ConvShape& s) { return pads_alike(s) ? s : padded(s); }

// Calls body(theirs, ours) for the elements of a filter: [height, width, in, out] is our order,
// [out, height, width, in] cuDNN's.
template <class Body>
void for_filter(Device& device, const ConvShape& s, const Body& body) {
  ACTORFLOW_CHECK(s.filter_elements() <= 0xffff'ffff);
  const auto out = static_cast<std::uint32_t>(s.out);
  const auto rest = static_cast<std::uint32_t>(s.filter_elements() / s.out);
  launch(device, s.filter_elements(), [=] __device__(std::int64_t i) {
    const auto theirs = static_cast<std::uint32_t>(i);
    body(theirs, theirs % rest * out + theirs / rest);
  });
}

void transpose_filter(Device& device, const ConvShape& s, const float* from, float* to) {
  for_filter(device, s,
             [=] __device__(std::uint32_t theirs, std::uint32_t ours) { to[theirs] = from[ours]; });
}

void transpose_filter_back(Device& device, const ConvShape& s, const float* from, float* to) {
  for_filter(device, s,
             [=] __device__(std::uint32_t theirs, std::uint32_t ours) { to[ours] = from[theirs]; });
}

// Calls body.run<n>(i, ours) for packs of n channels that begin at element i of the padded images, where
// `ours` is the place of that element in the images, negative in the padding.
template <int n, class Index, class Body>
void for_padded_packs(Device& device, const ConvShape& s, const Body& body) {
  const PaddedPlaces<Index> places(s, n);
  launch(device, places.packs(), [=] __device__(std::int64_t pack) {
    body.template run<n>(pack * n, places.place_in_images(static_cast<Index>(pack)));
  });
}

template <class Body>
void for_padded_images(Device& device, const ConvShape& s, bool fours, const Body& body) {
  // Dividing 32-bit numbers takes a fraction of the time.
  if (padded(s).images().elements() > 0xffff'ffff)
    for_padded_packs<1, std::int64_t>(device, s, body);
  else if (fours)
    for_padded_packs<4, std::uint32_t>(device, s, body);
  else
    for_padded_packs<1, std::uint32_t>(device, s, body);
}

struct Pad {
  const float* from;
  float* to;
  template <int n>
  __device__ void run(std::int64_t i, std::int64_t ours) const {
    Pack<float, n> pack{};
    if (ours >= 0) pack = load_pack<n>(from + ours);
    store_pack(to + i, pack);
  }
};

struct Unpad {
  const float* from;
  float* to;
  template <int n>
  __device__ void run(std::int64_t i, std::int64_t ours) const {
    if (ours >= 0) store_pack(to + ours, load_pack<n>(from + i));
  }
};

void pad_images(Device& device, const ConvShape& s, const float* from, float* to) {
  for_padded_images(device, s, in_fours(s.in, from, to), Pad{from, to});
}

void unpad_images(Device& device, const ConvShape& s, const float* from, float* to) {
  for_padded_images(device, s, in_fours(s.in, from, to), Unpad{from, to});
}

void add_bias(Device& device, const ConvShape& s, const float* bias, bool relu, float* output) {
  const Rows size{s.outputs().elements() / s.out, s.out};
  relu ? add_bias_on_cuda<Relu>(device, size, output, bias, output)
       : add_bias_on_cuda<Same>(device, size, output, bias, output);
}

struct GradientTerm {
  const float* gradient;
  __device__ double operator()(MatrixPlace at) const { return static_cast<double>(gradient[at.index]); }
};

void sum_bias(Device& device, const ConvShape& s, const float* gradient, float* bias_gradient) {
  fold_columns<SumFold>(
      device, {s.batch * s.rows.output * s.columns.output, s.out}, GradientTerm{gradient},
      [=] __device__(std::int64_t j, double sum) { bias_gradient[j] = static_cast<float>(sum); });
}

const float* floats(const Tensor& tensor) { return static_cast<const float*>(tensor.data()); }
float* floats(Tensor& tensor) { return static_cast<float*>(tensor.mutable_data()); }

std::int64_t padded_elements(const ConvShape& s) {
  return pads_alike(s) ? 0 : padded(s).images().elements();
}

using Plan = std::shared_ptr<const CudnnConvPlan>;

// The plan of a shape, for all nodes: making one takes milliseconds. Thread-safe.
Plan shared_plan(cudnnHandle_t handle, const Device& device, const ConvShape& shape,
                 ConvDirection direction, Precision precision) {
  using Key = std::tuple<int, ConvShape, ConvDirection, Precision>;
  constexpr std::size_t most_kept = 1024;  // shapes come from programs, so that there are few
  static std::mutex mutex;
  static auto* plans = new std::vector<std::pair<Key, Plan>>;
  const Key wanted(device.index(), shape, direction, precision);
  const std::lock_guard lock(mutex);
  for (const auto& [key, plan] : *plans)
    if (key == wanted) return plan;
  if (plans->size() == most_kept) plans->clear();
  plans->emplace_back(
      wanted, std::make_shared<CudnnConvPlan>(handle, shape_for_cudnn(shape), direction, precision));
  return plans->back().second;
}

}  // namespace

CudnnConv::CudnnConv(Precision precision) : precision_(precision) {}

void CudnnConv::forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                        const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(filter, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = shared_plan(handle, device, shape, ConvDirection::forward, precision_);
  const DeviceScratch<float> transposed(device, shape.filter_elements()),
      with_padding(device, padded_elements(shape));
  const DeviceScratch<std::byte> workspace(device, static_cast<std::int64_t>(plan->workspace_bytes()));
  const bool alike = pads_alike(shape);
  transpose_filter(device, shape, floats(filter), transposed.data());
  if (!alike) pad_images(device, shape, floats(images), with_padding.data());
  plan->run(handle, alike ? floats(images) : with_padding.data(), transposed.data(), floats(output),
            workspace.data());
  if (bias || relu) add_bias(device, shape, bias ? floats(*bias) : nullptr, relu, floats(output));
}

void CudnnConv::backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                               Tensor& images_gradient, const OpContext& c) const {
  check_for_library(filter, c);
  check_for_library(gradient, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = shared_plan(handle, device, shape, ConvDirection::backprop_input, precision_);
  const DeviceScratch<float> transposed(device, shape.filter_elements()),
      with_padding(device, padded_elements(shape));
  const DeviceScratch<std::byte> workspace(device, static_cast<std::int64_t>(plan->workspace_bytes()));
  const bool alike = pads_alike(shape);
  transpose_filter(device, shape, floats(filter), transposed.data());
  plan->run(handle, alike ? floats(images_gradient) : with_padding.data(), transposed.data(),
            floats(gradient), workspace.data());
  if (!alike) unpad_images(device, shape, with_padding.data(), floats(images_gradient));
}

void CudnnConv::backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                                Tensor& filter_gradient, Tensor* bias_gradient,
                                const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(gradient, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = shared_plan(handle, device, shape, ConvDirection::backprop_filter, precision_);
  const DeviceScratch<float> transposed(device, shape.filter_elements()),
      with_padding(device, padded_elements(shape));
  const DeviceScratch<std::byte> workspace(device, static_cast<std::int64_t>(plan->workspace_bytes()));
  const bool alike = pads_alike(shape);
  if (!alike) pad_images(device, shape, floats(images), with_padding.data());
  plan->run(handle, alike ? floats(images) : with_padding.data(), transposed.data(), floats(gradient),
            workspace.data());
  transpose_filter_back(device, shape, transposed.data(), floats(filter_gradient));
  if (bias_gradient) sum_bias(device, shape, floats(gradient), floats(*bias_gradient));
}

}  // namespace actorflow

#endif
