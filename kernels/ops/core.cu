// The kernels of dataflow's own ops: Const, Identity, NoOp, AddN. Actors do the other core ops.
#include <algorithm>
#include <mutex>

#include "dataflow/graph/core_ops.h"
#include "dataflow/ops/dataflow_ops.h"
#include "dataflow/ops/queue_ops.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/devices/host_device.h"
#include "kernels/loops/elementwise.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

// Copies the value to the node's device once.
class Const final : public Kernel {
 public:
  explicit Const(const Node& node) : value_(attr<Tensor>(node, "value")) {}

  void compute(OpContext& c) const override {
    std::call_once(copied_, [&] { on_device_ = c.device().to_device(value_); });
    c.set_output(0, on_device_);
  }

 private:
  const Tensor value_;
  mutable std::once_flag copied_;
  mutable Tensor on_device_;
};

std::unique_ptr<Kernel> make_const(const Node& node) { return std::make_unique<Const>(node); }

void identity_kernel(OpContext& c) { c.set_output(0, c.input(0)); }
void nothing(OpContext&) {}

// Integers wrap around.
template <class T>
ACTORFLOW_HOST_DEVICE T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

// sum = a + b; a may be the sum itself.
template <class T>
void add_loop(std::int64_t count, const T* a, const T* b, T* sum) {
  vectorised([=] {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) sum[i] = sum_of(a[i], b[i]);
  });
}

// Block by block, so that the sum stays in the cache while the inputs are added.
template <class T>
void add_all_on_cpu(const OpContext& c, Tensor& sum) {
  constexpr std::int64_t block = 2048;
  const auto from = [&c](int input) { return static_cast<const T*>(c.input(input).data()); };
  auto* out = static_cast<T*>(sum.mutable_data());
  for (std::int64_t first = 0; first < sum.elements(); first += block) {
    const std::int64_t count = std::min(block, sum.elements() - first);
    add_loop(count, from(0) + first, from(1) + first, out + first);
    for (int input = 2; input < c.inputs(); ++input)
      add_loop(count, out + first, from(input) + first, out + first);
  }
}

#ifdef ACTORFLOW_CUDA
struct Sum {
  template <class T, class... Rest>
  ACTORFLOW_HOST_DEVICE T operator()(T a, T b, Rest... rest) const {
    if constexpr (sizeof...(rest) == 0)
      return sum_of(a, b);
    else
      return (*this)(sum_of(a, b), rest...);
  }
};

// Adds up to four tensors in one pass over memory: the sum so far and three more.
template <class T>
void add_all_on_cuda(const OpContext& c, Tensor& sum) {
  auto* out = static_cast<T*>(sum.mutable_data());
  const auto x = [&c](int input) { return static_cast<const T*>(c.input(input).data()); };
  const T* left = x(0);
  const auto add = [&](const auto*... inputs) {
    launch_packs(c.device(), sum.elements(),
                 PackedBody<Sum, T, T, 1 + sizeof...(inputs)>{{}, {left, inputs...}, out});
    left = out;
  };
  int input = 1;
  for (; input + 3 <= c.inputs(); input += 3) add(x(input), x(input + 1), x(input + 2));
  if (input + 2 == c.inputs()) add(x(input), x(input + 1));
  if (input + 1 == c.inputs()) add(x(input));
}
#endif

template <class T>
void add_all(const OpContext& c, Tensor& sum) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda) return add_all_on_cuda<T>(c, sum);
#endif
  add_all_on_cpu<T>(c, sum);
}

void add_n(OpContext& c) {
  const Tensor& first = c.input(0);
  dispatch<DTypes<float, double, std::int32_t, std::int64_t, std::uint8_t>>(c, first, [&]<class T>() {
    Tensor& sum = c.forward_or_allocate(0, 0, dtype_of<T>, first.shape());
    add_all<T>(c, sum);
  });
}

void add_n_kernel(OpContext& c) {
  const Tensor& first = c.input(0);
  for (int i = 1; i < c.inputs(); ++i)
    if (c.input(i).dtype() != first.dtype() || c.input(i).shape() != first.shape())
      c.fail("inputs of one type", first.describe() + " and " + c.input(i).describe());
  if (c.inputs() == 1) return c.set_output(0, first);
  compute_in_float32(c, add_n);
}

}  // namespace

Output identity(Output x) { return add_node(identity_op(), {x}); }

std::vector<Op> core_op_kernels() {
  std::vector<Op> ops;
  for (const OpDef* def : dataflow_ops()) {
    if (def == &const_op())
      ops.push_back({def, make_const, make_const});
    else if (def == &identity_op())
      ops.push_back({def, stateless<identity_kernel>, stateless<identity_kernel>});
    else if (def == &no_op())
      ops.push_back({def, stateless<nothing>, stateless<nothing>});
    else if (def == &add_n_op())
      ops.push_back(on_all_devices<add_n_kernel>(*def));
    else
      ops.push_back({def});
  }
  for (const OpDef* def : queue_ops()) ops.push_back({def});
  return ops;
}

}  // namespace actorflow
