#ifdef ACTORFLOW_CUDNN

#include "kernels/images/cudnn_conv.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/devices/cuda_device.h"
#include "kernels/devices/cudnn.h"
#include "kernels/images/cudnn_plan.h"
#include "kernels/loops/fold_columns.h"
#include "kernels/loops/launch_elements.h"

namespace actorflow {
namespace {

// cuDNN pads both sides of an axis alike; where ours differ, the images are padded before.
bool pads_alike(const ConvShape& s) {
  return s.rows.before == s.rows.after() && s.columns.before == s.columns.after();
}

// The shape of the images as the plan sees them: where they are padded before, as large as they are
// then.
ConvShape shape_for_cudnn(ConvShape s) {
  if (pads_alike(s)) return s;
  for (SlidingAxis* axis : {&s.rows, &s.columns}) {
    axis->input += axis->before + axis->after();
    axis->before = 0;
  }
  return s;
}

// [height, width, in, out] to cuDNN's [out, height, width, in], or back.
void transpose_filter(Device& device, const ConvShape& s, const float* from, float* to, bool back) {
  const std::int64_t out = s.out, rest = s.filter_elements() / s.out;
  launch(device, s.filter_elements(), [=] __device__(std::int64_t i) {
    const std::int64_t ours = i % rest * out + i / rest;
    if (back)
      to[ours] = from[i];
    else
      to[i] = from[ours];
  });
}

// The images with their padding, or the images out of it.
void pad_images(Device& device, const ConvShape& s, const float* from, float* to, bool back) {
  const std::int64_t rows = s.rows.input + s.rows.before + s.rows.after();
  const std::int64_t columns = s.columns.input + s.columns.before + s.columns.after();
  launch(device, s.batch * rows * columns * s.in, [=] __device__(std::int64_t i) {
    const std::int64_t channel = i % s.in, place = i / s.in;
    const std::int64_t row = place / columns % rows - s.rows.before;
    const std::int64_t column = place % columns - s.columns.before;
    const bool inside = row >= 0 && row < s.rows.input && column >= 0 && column < s.columns.input;
    const std::int64_t ours =
        ((place / columns / rows * s.rows.input + row) * s.columns.input + column) * s.in + channel;
    if (back && inside) to[ours] = from[i];
    if (!back) to[i] = inside ? from[ours] : 0;
  });
}

void add_bias(Device& device, const ConvShape& s, const float* bias, bool relu, float* output) {
  const Rows size{s.outputs().elements() / s.out, s.out};
  launch_elements(device, size, [=] __device__(std::int64_t i, std::int64_t column) {
    const float sum = output[i] + (bias ? bias[column] : 0);
    output[i] = relu && sum < 0 ? 0 : sum;
  });
}

struct GradientTerm {
  const float* gradient;
  __device__ double operator()(MatrixPlace at) const { return static_cast<double>(gradient[at.index]); }
};

void sum_bias(Device& device, const ConvShape& s, const float* gradient, float* bias_gradient) {
  const DeviceScratch<double> scratch(device, s.out);
  const double* sums = scratch.data();
  fold_columns<SumFold>(device, {s.batch * s.rows.output * s.columns.output, s.out},
                        GradientTerm{gradient}, scratch.data());
  launch(device, s.out,
         [=] __device__(std::int64_t j) { bias_gradient[j] = static_cast<float>(sums[j]); });
}

const float* floats(const Tensor& tensor) { return static_cast<const float*>(tensor.data()); }
float* floats(Tensor& tensor) { return static_cast<float*>(tensor.mutable_data()); }

std::int64_t padded_elements(const ConvShape& s) {
  if (pads_alike(s)) return 0;
  return s.batch * (s.rows.input + s.rows.before + s.rows.after()) *
         (s.columns.input + s.columns.before + s.columns.after()) * s.in;
}

}  // namespace

// Plans do not change once they are made: calls on several threads share them.
struct CudnnConv::Plans {
  explicit Plans(Precision of_products) : precision(of_products) {}

  std::shared_ptr<const CudnnConvPlan> find(cudnnHandle_t handle, const ConvShape& shape,
                                            ConvDirection direction) {
    const std::lock_guard lock(mutex);
    for (const auto& [key, plan] : plans)
      if (key == std::pair(shape, direction)) return plan;
    if (plans.size() == max_plans) plans.erase(plans.begin());
    plans.emplace_back(
        std::pair(shape, direction),
        std::make_shared<CudnnConvPlan>(handle, shape_for_cudnn(shape), direction, precision));
    return plans.back().second;
  }

  static constexpr std::size_t max_plans = 8;  // a node sees few shapes
  const Precision precision;
  std::mutex mutex;
  std::vector<std::pair<std::pair<ConvShape, ConvDirection>, std::shared_ptr<const CudnnConvPlan>>>
      plans;
};

CudnnConv::CudnnConv(Precision precision) : plans_(std::make_unique<Plans>(precision)) {}

CudnnConv::~CudnnConv() = default;

void CudnnConv::forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                        const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(filter, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = plans_->find(handle, shape, ConvDirection::forward);
  const DeviceScratch<float> transposed(device, shape.filter_elements()),
      padded(device, padded_elements(shape));
  const DeviceScratch<std::byte> workspace(device, static_cast<std::int64_t>(plan->workspace_bytes()));
  const bool alike = pads_alike(shape);
  transpose_filter(device, shape, floats(filter), transposed.data(), false);
  if (!alike) pad_images(device, shape, floats(images), padded.data(), false);
  plan->run(handle, alike ? floats(images) : padded.data(), transposed.data(), floats(output),
            workspace.data());
  if (bias || relu) add_bias(device, shape, bias ? floats(*bias) : nullptr, relu, floats(output));
}

void CudnnConv::backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                               Tensor& images_gradient, const OpContext& c) const {
  check_for_library(filter, c);
  check_for_library(gradient, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = plans_->find(handle, shape, ConvDirection::backprop_input);
  const DeviceScratch<float> transposed(device, shape.filter_elements()),
      padded(device, padded_elements(shape));
  const DeviceScratch<std::byte> workspace(device, static_cast<std::int64_t>(plan->workspace_bytes()));
  const bool alike = pads_alike(shape);
  transpose_filter(device, shape, floats(filter), transposed.data(), false);
  plan->run(handle, alike ? floats(images_gradient) : padded.data(), transposed.data(), floats(gradient),
            workspace.data());
  if (!alike) pad_images(device, shape, padded.data(), floats(images_gradient), true);
}

void CudnnConv::backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                                Tensor& filter_gradient, Tensor* bias_gradient,
                                const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(gradient, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = plans_->find(handle, shape, ConvDirection::backprop_filter);
  const DeviceScratch<float> transposed(device, shape.filter_elements()),
      padded(device, padded_elements(shape));
  const DeviceScratch<std::byte> workspace(device, static_cast<std::int64_t>(plan->workspace_bytes()));
  const bool alike = pads_alike(shape);
  if (!alike) pad_images(device, shape, floats(images), padded.data(), false);
  plan->run(handle, alike ? floats(images) : padded.data(), transposed.data(), floats(gradient),
            workspace.data());
  transpose_filter(device, shape, transposed.data(), floats(filter_gradient), true);
  if (bias_gradient) sum_bias(device, shape, floats(gradient), floats(*bias_gradient));
}

}  // namespace actorflow

#endif
