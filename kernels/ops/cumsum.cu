// CumSum: running sums along an axis.
#include <algorithm>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/indexing.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "kernels/ops/reduce.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

void infer_cumsum(InferContext& c) {
  expect_dtype_in<NumericTypes>(c, 0);
  if (c.input(0).shape.has_rank()) indexed_axis(c, c.attr<std::int64_t>("axis"), c.input(0).shape);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

// Each element is in the sums from its place on, so its gradient is a sum from the other end.
std::vector<Output> cumsum_gradient(GradientContext& c) {
  return {cumsum(c.gradient(), c.attr<std::int64_t>("axis"), c.attr<bool>("exclusive"),
                 !c.attr<bool>("reverse"))};
}

const OpDef& cumsum_op() {
  static const OpDef op{.name = "CumSum",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{"axis", std::int64_t{0}}, {"exclusive", false}, {"reverse", false}},
                        .infer = infer_cumsum,
                        .gradient = cumsum_gradient};
  return op;
}

struct Order {
  bool exclusive, reverse;
};

// One sum after the other: out may be x.
template <class T>
ACTORFLOW_HOST_DEVICE void sum_line(const T* x, T* out, std::int64_t dim, std::int64_t stride,
                                    Order order) {
  using Reducer = SumReducer<T>;
  auto total = Reducer::initial();
  for (std::int64_t i = 0; i < dim; ++i) {
    const std::int64_t place = (order.reverse ? dim - 1 - i : i) * stride;
    const auto before = total;
    total = Reducer::combine(total, static_cast<typename Reducer::Accumulator>(x[place]));
    out[place] = Reducer::result(order.exclusive ? before : total, 0);
  }
}

// Neighbouring lines side by side, which reads memory in order.
template <class T>
void sum_lines(const T* x, T* out, const Indexed& view, std::int64_t first, std::int64_t count,
               Order order) {
  using Reducer = SumReducer<T>;
  constexpr std::int64_t block = 512;
  typename Reducer::Accumulator totals[block];
  std::fill_n(totals, count, Reducer::initial());
  for (std::int64_t i = 0; i < view.dim; ++i) {
    const std::int64_t row = (order.reverse ? view.dim - 1 - i : i) * view.inner + first;
    for (std::int64_t j = 0; j < count; ++j) {
      const auto before = totals[j];
      totals[j] = Reducer::combine(before, static_cast<typename Reducer::Accumulator>(x[row + j]));
      out[row + j] = Reducer::result(order.exclusive ? before : totals[j], 0);
    }
  }
}

template <class T>
void cumsum_on_cpu(const T* x, T* out, const Indexed& view, Order order) {
  constexpr std::int64_t block = 512;
  for (std::int64_t outer = 0; outer < view.outer; ++outer) {
    const std::int64_t place = outer * view.dim * view.inner;
    if (view.inner == 1)
      sum_line(x + place, out + place, view.dim, 1, order);
    else
      for (std::int64_t first = 0; first < view.inner; first += block)
        sum_lines(x + place, out + place, view, first, std::min(block, view.inner - first), order);
  }
}

template <class T>
void run_cumsum([[maybe_unused]] Device& device, const T* x, T* out, const Indexed& view, Order order) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda)
    return launch(device, view.outer * view.inner, [=] __device__(std::int64_t i) {
      const std::int64_t place = i / view.inner * view.dim * view.inner + i % view.inner;
      sum_line(x + place, out + place, view.dim, view.inner, order);
    });
#endif
  cumsum_on_cpu(x, out, view, order);
}

void cumsum_kernel(OpContext& c) {
  const Tensor x = c.input(0);
  const int axis = indexed_axis(c, attr<std::int64_t>(c.node(), "axis"), x.shape());
  const Order order{attr<bool>(c.node(), "exclusive"), attr<bool>(c.node(), "reverse")};
  Tensor& out = c.allocate_output(0, x.dtype(), x.shape());
  dispatch<NumericTypes>(c, x, [&]<class T>() {
    run_cumsum(c.device(), static_cast<const T*>(x.data()), static_cast<T*>(out.mutable_data()),
               indexed(x.shape(), axis, 0), order);
  });
}

}  // namespace

Output cumsum(Output x, std::int64_t axis, bool exclusive, bool reverse) {
  return add_node(cumsum_op(), {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}});
}

std::vector<Op> cumsum_ops() { return {on_all_devices<cumsum_kernel>(cumsum_op())}; }

}  // namespace actorflow
