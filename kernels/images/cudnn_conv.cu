#ifdef ACTORFLOW_CUDNN

#include "kernels/images/cudnn_conv.h"

#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/devices/cuda_device.h"
#include "kernels/devices/cudnn.h"
#include "kernels/images/cudnn_algorithm.h"
#include "kernels/loops/add_bias.h"
#include "kernels/loops/fold_columns.h"
#include "kernels/loops/relu.h"

namespace actorflow {
namespace {

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

}  // namespace

// What a node has used: few shapes, found sooner here than among those of all nodes.
struct CudnnConv::Algorithms {
  explicit Algorithms(Precision of_products) : precision(of_products) {}

  std::shared_ptr<const CudnnAlgorithm> find(cudnnHandle_t handle, Device& device,
                                             const ConvShape& shape, ConvDirection direction,
                                             const ConvTensors& tensors) {
    const std::lock_guard lock(mutex);
    const Key wanted(device.index(), shape, direction);
    for (const auto& [key, algorithm] : used)
      if (key == wanted) return algorithm;
    if (used.size() == most_used) used.erase(used.begin());
    used.emplace_back(wanted, cudnn_algorithm(handle, device, shape, direction, precision, tensors));
    return used.back().second;
  }

  using Key = std::tuple<int, ConvShape, ConvDirection>;
  static constexpr std::size_t most_used = 8;
  const Precision precision;
  std::mutex mutex;
  std::vector<std::pair<Key, std::shared_ptr<const CudnnAlgorithm>>> used;
};

CudnnConv::CudnnConv(Precision precision) : algorithms_(std::make_unique<Algorithms>(precision)) {}

CudnnConv::~CudnnConv() = default;

void CudnnConv::run(Device& device, const ConvShape& shape, ConvDirection direction,
                    const ConvTensors& tensors) const {
  const CudnnHandle handle(device);
  algorithms_->find(handle, device, shape, direction, tensors)->run(handle, device, shape, tensors);
}

void CudnnConv::forward(const ConvShape& shape, const Tensor& images, const Tensor& filter,
                        const Tensor* bias, bool relu, Tensor& output, const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(filter, c);
  run(c.device(), shape, ConvDirection::forward,
      {.images = floats(images), .filter = floats(filter), .result = floats(output)});
  if (bias || relu) add_bias(c.device(), shape, bias ? floats(*bias) : nullptr, relu, floats(output));
}

void CudnnConv::backprop_input(const ConvShape& shape, const Tensor& filter, const Tensor& gradient,
                               Tensor& images_gradient, const OpContext& c) const {
  check_for_library(filter, c);
  check_for_library(gradient, c);
  run(c.device(), shape, ConvDirection::backprop_input,
      {.filter = floats(filter), .outputs = floats(gradient), .result = floats(images_gradient)});
}

void CudnnConv::backprop_filter(const ConvShape& shape, const Tensor& images, const Tensor& gradient,
                                Tensor& filter_gradient, Tensor* bias_gradient,
                                const OpContext& c) const {
  check_for_library(images, c);
  check_for_library(gradient, c);
  run(c.device(), shape, ConvDirection::backprop_filter,
      {.images = floats(images), .outputs = floats(gradient), .result = floats(filter_gradient)});
  if (bias_gradient) sum_bias(c.device(), shape, floats(gradient), floats(*bias_gradient));
}

}  // namespace actorflow

#endif
