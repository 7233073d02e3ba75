#include "kernels/loops/short_floats.h"

#include <vector>

#include "kernels/core/dtypes.h"
#include "kernels/loops/elementwise.h"

namespace actorflow {
namespace {

using ShortTypes = DTypes<Float16, BFloat16>;

struct Widen {
  template <class T>
  ACTORFLOW_HOST_DEVICE float operator()(T x) const {
    return x;
  }
};

template <class T>
struct Round {
  ACTORFLOW_HOST_DEVICE T operator()(float x) const { return T(x); }
};

}  // namespace

Tensor widened(Device& device, const Tensor& tensor) {
  Tensor wide = Tensor::allocate(DType::float32, tensor.shape(), device.allocator());
  ShortTypes::dispatch(tensor.dtype(), [&]<class T>() {
    run_unary<Widen>(device, tensor.elements(), static_cast<const T*>(tensor.data()),
                     static_cast<float*>(wide.mutable_data()));
  });
  return wide;
}

Tensor rounded(Device& device, const Tensor& tensor, DType dtype) {
  Tensor result = Tensor::allocate(dtype, tensor.shape(), device.allocator());
  ShortTypes::dispatch(dtype, [&]<class T>() {
    run_unary<Round<T>>(device, tensor.elements(), static_cast<const float*>(tensor.data()),
                        static_cast<T*>(result.mutable_data()));
  });
  return result;
}

void compute_in_float32(OpContext& context, const std::function<void(OpContext&)>& compute) {
  const DType dtype = context.input(0).dtype();
  if (!is_short_floating(dtype)) return compute(context);
  std::vector<Tensor> inputs, outputs(static_cast<std::size_t>(context.outputs()));
  for (int i = 0; i < context.inputs(); ++i) {
    const Tensor& input = context.input(i);
    if (is_floating(input.dtype()) && input.dtype() != dtype)
      context.fail("inputs of one dtype", context.input(0).describe() + " and " + input.describe());
    inputs.push_back(input.dtype() == dtype ? widened(context.device(), input) : input);
  }
  OpContext wide(context.node(), context.device(), inputs, outputs, context.team(),
                 context.interruption());
  compute(wide);
  for (int i = 0; i < context.outputs(); ++i)
    context.set_output(i, rounded(context.device(), wide.output(i), dtype));
}

}  // namespace actorflow
