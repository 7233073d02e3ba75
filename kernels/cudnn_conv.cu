#ifdef ACTORFLOW_CUDNN

#include "kernels/cudnn_conv.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>
#include <vector>

#include "dataflow/error.h"
#include "kernels/column_sums.h"
#include "kernels/cuda_device.h"
#include "kernels/cudnn.h"

namespace actorflow {
namespace {

// A descriptor of cuDNN, destroyed with this object.
template <class Handle, cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle)>
class Descriptor {
 public:
  Descriptor() { check_cudnn(create(&handle_), "create a descriptor"); }
  ~Descriptor() { destroy(handle_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator Handle() const { return handle_; }  // NOLINT: it stands for the handle

 private:
  Handle handle_ = nullptr;
};

using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvDescriptor = Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                                  cudnnDestroyConvolutionDescriptor>;

enum class Direction { forward, backprop_input, backprop_filter };

void describe(const TensorDescriptor& descriptor, std::int64_t batch, std::int64_t rows,
              std::int64_t columns, std::int64_t channels) {
  check_cudnn(cudnnSetTensor4dDescriptor(descriptor, CUDNN_TENSOR_NHWC, CUDNN_DATA_FLOAT,
                                         static_cast<int>(batch), static_cast<int>(channels),
                                         static_cast<int>(rows), static_cast<int>(columns)),
              "describe images");
}

// cuDNN pads both sides of an axis alike; where ours differ, the images are padded before.
bool pads_alike(const ConvShape& s) {
  return s.rows.before == s.rows.after() && s.columns.before == s.columns.after();
}

// The first algorithm that always gives the same bits.
template <class Performance>
auto deterministic(const std::array<Performance, 8>& found, int count) {
  for (int i = 0; i < count; ++i) {
    const Performance& candidate = found[static_cast<std::size_t>(i)];
    if (candidate.status == CUDNN_STATUS_SUCCESS && candidate.determinism == CUDNN_DETERMINISTIC)
      return candidate;
  }
  throw Error(Code::unimplemented, "cuDNN has no deterministic algorithm for a convolution");
}

// What cuDNN needs to know of one shape and direction.
struct Plan {
  Plan(cudnnHandle_t handle, const ConvShape& s, Direction direction, Precision precision) {
    const bool alike = pads_alike(s);
    const std::int64_t more_rows = alike ? 0 : s.rows.before + s.rows.after();
    const std::int64_t more_columns = alike ? 0 : s.columns.before + s.columns.after();
    describe(images, s.batch, s.rows.input + more_rows, s.columns.input + more_columns, s.in);
    describe(outputs, s.batch, s.rows.output, s.columns.output, s.out);
    describe(bias, 1, 1, 1, s.out);
    check_cudnn(
        cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NHWC, static_cast<int>(s.out),
                                   static_cast<int>(s.in), static_cast<int>(s.rows.window),
                                   static_cast<int>(s.columns.window)),
        "describe a filter");
    check_cudnn(cudnnSetConvolution2dDescriptor(
                    conv, alike ? static_cast<int>(s.rows.before) : 0,
                    alike ? static_cast<int>(s.columns.before) : 0, static_cast<int>(s.rows.stride),
                    static_cast<int>(s.columns.stride), 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
                "describe a convolution");
    choose_arithmetic(arithmetic_of(precision));
    choose_algorithm(handle, direction);
    if (precision == Precision::float32) choose_arithmetic(CUDNN_FMA_MATH);
  }

  // The default lets tensor cores round factors to TF32. To bfloat16 cuDNN rounds only what is stored
  // so, results too.
  static cudnnMathType_t arithmetic_of(Precision precision) {
    return precision == Precision::float32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
  }
  void choose_arithmetic(cudnnMathType_t type) {
    check_cudnn(cudnnSetConvolutionMathType(conv, type), "choose its arithmetic");
  }

  // An algorithm goes with the arithmetic and the memory that it was found with.
  template <class Performance>
  auto take(const Performance& chosen) {
    choose_arithmetic(chosen.mathType);
    workspace_bytes = chosen.memory;
    return chosen.algo;
  }

  void choose_algorithm(cudnnHandle_t handle, Direction direction) {
    constexpr auto doing = "choose an algorithm";
    int count = 0;
    if (direction == Direction::forward) {
      std::array<cudnnConvolutionFwdAlgoPerf_t, 8> found;
      check_cudnn(cudnnGetConvolutionForwardAlgorithm_v7(handle, images, filter, conv, outputs, 8,
                                                         &count, found.data()),
                  doing);
      forward = take(deterministic(found, count));
    } else if (direction == Direction::backprop_input) {
      std::array<cudnnConvolutionBwdDataAlgoPerf_t, 8> found;
      check_cudnn(cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, filter, outputs, conv, images, 8,
                                                              &count, found.data()),
                  doing);
      backprop_input = take(deterministic(found, count));
    } else {
      std::array<cudnnConvolutionBwdFilterAlgoPerf_t, 8> found;
      check_cudnn(cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, images, outputs, conv, filter, 8,
                                                                &count, found.data()),
                  doing);
      backprop_filter = take(deterministic(found, count));
    }
  }

  TensorDescriptor images, outputs, bias;
  FilterDescriptor filter;
  ConvDescriptor conv;
  std::size_t workspace_bytes = 0;
  cudnnConvolutionFwdAlgo_t forward{};
  cudnnConvolutionBwdDataAlgo_t backprop_input{};
  cudnnConvolutionBwdFilterAlgo_t backprop_filter{};
};

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
  const std::int64_t out = s.out;
  launch(device, s.outputs().elements(), [=] __device__(std::int64_t i) {
    const float sum = output[i] + (bias ? bias[i % out] : 0);
    output[i] = relu && sum < 0 ? 0 : sum;
  });
}

struct GradientTerm {
  const float* gradient;
  __device__ double operator()(std::int64_t i, std::int64_t) const {
    return static_cast<double>(gradient[i]);
  }
};

void sum_bias(Device& device, const ConvShape& s, const float* gradient, float* bias_gradient) {
  const BufferRef scratch =
      device.allocator().allocate(static_cast<std::size_t>(s.out) * sizeof(double));
  auto* sums = static_cast<double*>(scratch->data());
  column_sums(device, {s.batch * s.rows.output * s.columns.output, s.out}, GradientTerm{gradient}, sums);
  launch(device, s.out,
         [=] __device__(std::int64_t j) { bias_gradient[j] = static_cast<float>(sums[j]); });
}

const float* floats(const Tensor& tensor) { return static_cast<const float*>(tensor.data()); }
float* floats(Tensor& tensor) { return static_cast<float*>(tensor.mutable_data()); }

// Memory of the device's pool for one call. Kernels may still use it when it is given back: whoever gets
// it next uses it later on the same stream.
class Scratch {
 public:
  Scratch(Device& device, std::size_t size_bytes) : buffer_(device.allocator().allocate(size_bytes)) {}
  float* data() const { return static_cast<float*>(buffer_->data()); }

 private:
  BufferRef buffer_;
};

std::size_t filter_bytes(const ConvShape& s) {
  return static_cast<std::size_t>(s.filter_elements()) * sizeof(float);
}

std::size_t padded_bytes(const ConvShape& s) {
  if (pads_alike(s)) return 0;
  return static_cast<std::size_t>(s.batch * (s.rows.input + s.rows.before + s.rows.after()) *
                                  (s.columns.input + s.columns.before + s.columns.after()) * s.in) *
         sizeof(float);
}

}  // namespace

// Plans do not change once they are made: calls on several threads share them.
struct CudnnConv::Plans {
  explicit Plans(Precision of_products) : precision(of_products) {}

  std::shared_ptr<const Plan> find(cudnnHandle_t handle, const ConvShape& shape, Direction direction) {
    const std::lock_guard lock(mutex);
    for (const auto& [key, plan] : plans)
      if (key == std::pair(shape, direction)) return plan;
    if (plans.size() == max_plans) plans.erase(plans.begin());
    plans.emplace_back(std::pair(shape, direction),
                       std::make_shared<Plan>(handle, shape, direction, precision));
    return plans.back().second;
  }

  static constexpr std::size_t max_plans = 8;  // a node sees few shapes
  const Precision precision;
  std::mutex mutex;
  std::vector<std::pair<std::pair<ConvShape, Direction>, std::shared_ptr<const Plan>>> plans;
};

CudnnConv::CudnnConv(Precision precision) : plans_(std::make_unique<Plans>(precision)) {}

CudnnConv::~CudnnConv() = default;

void CudnnConv::forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                        const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(filter, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = plans_->find(handle, shape, Direction::forward);
  const Scratch transposed(device, filter_bytes(shape)), padded(device, padded_bytes(shape)),
      workspace(device, plan->workspace_bytes);
  const bool alike = pads_alike(shape);
  transpose_filter(device, shape, floats(filter), transposed.data(), false);
  if (!alike) pad_images(device, shape, floats(images), padded.data(), false);
  const float one = 1, zero = 0;
  check_cudnn(cudnnConvolutionForward(handle, &one, plan->images, alike ? floats(images) : padded.data(),
                                      plan->filter, transposed.data(), plan->conv, plan->forward,
                                      workspace.data(), plan->workspace_bytes, &zero, plan->outputs,
                                      floats(output)),
              "convolve");
  if (bias || relu) add_bias(device, shape, bias ? floats(*bias) : nullptr, relu, floats(output));
}

void CudnnConv::backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                               Tensor& images_gradient, const OpContext& c) const {
  check_for_library(filter, c);
  check_for_library(gradient, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = plans_->find(handle, shape, Direction::backprop_input);
  const Scratch transposed(device, filter_bytes(shape)), padded(device, padded_bytes(shape)),
      workspace(device, plan->workspace_bytes);
  const bool alike = pads_alike(shape);
  transpose_filter(device, shape, floats(filter), transposed.data(), false);
  const float one = 1, zero = 0;
  check_cudnn(cudnnConvolutionBackwardData(handle, &one, plan->filter, transposed.data(), plan->outputs,
                                           floats(gradient), plan->conv, plan->backprop_input,
                                           workspace.data(), plan->workspace_bytes, &zero, plan->images,
                                           alike ? floats(images_gradient) : padded.data()),
              "compute the gradient of images");
  if (!alike) pad_images(device, shape, padded.data(), floats(images_gradient), true);
}

void CudnnConv::backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                                Tensor& filter_gradient, Tensor* bias_gradient,
                                const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(gradient, c);
  Device& device = c.device();
  const CudnnHandle handle(device);
  const auto plan = plans_->find(handle, shape, Direction::backprop_filter);
  const Scratch transposed(device, filter_bytes(shape)), padded(device, padded_bytes(shape)),
      workspace(device, plan->workspace_bytes);
  const bool alike = pads_alike(shape);
  if (!alike) pad_images(device, shape, floats(images), padded.data(), false);
  const float one = 1, zero = 0;
  check_cudnn(cudnnConvolutionBackwardFilter(
                  handle, &one, plan->images, alike ? floats(images) : padded.data(), plan->outputs,
                  floats(gradient), plan->conv, plan->backprop_filter, workspace.data(),
                  plan->workspace_bytes, &zero, plan->filter, transposed.data()),
              "compute the gradient of a filter");
  transpose_filter(device, shape, transposed.data(), floats(filter_gradient), true);
  if (bias_gradient) sum_bias(device, shape, floats(gradient), floats(*bias_gradient));
}

}  // namespace actorflow

#endif
