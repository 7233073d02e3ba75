// The gradients of Softmax and LogSoftmax, each as one op.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/loops/elementary.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"
#include "kernels/ops/reduce.h"
#include "kernels/rows/softmax_gradient.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/warp_rows.h"
#endif

namespace actorflow {
namespace {

void infer_gradient(InferContext& c) {
  expect_rows<AllFloatingTypes>(c);
  c.expect_same_dtype();
  if (!c.input(0).shape.compatible_with(c.input(1).shape))
    c.fail("an output and a gradient of one shape",
           c.input(0).to_string() + " and " + c.input(1).to_string());
  c.add_output(c.input(0).dtype, c.input(1).shape);
}

Output sum_of_rows(Output x) { return sum(x, {-1}, true); }

// Of d = (g - sum(g y)) y, with u its gradient.
std::vector<Output> softmax_second_gradient(GradientContext& c) {
  const Output y = c.input(0), g = c.input(1), u = c.gradient();
  return {u * (g - sum_of_rows(g * y)) - g * sum_of_rows(u * y), softmax_gradient(y, u)};
}

// Of d = g - exp(y) sum(g).
std::vector<Output> log_softmax_second_gradient(GradientContext& c) {
  const Output y = c.input(0), g = c.input(1), u = c.gradient(), share = u * exp(y);
  return {-share * sum_of_rows(g), u - sum_of_rows(share)};
}

// (y, g) -> the gradient of x.
const OpDef& softmax_grad_op() {
  static const OpDef op{.name = "SoftmaxGrad",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_gradient,
                        .gradient = softmax_second_gradient};
  return op;
}

const OpDef& log_softmax_grad_op() {
  static const OpDef op{.name = "LogSoftmaxGrad",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .infer = infer_gradient,
                        .gradient = log_softmax_second_gradient};
  return op;
}

// What differs between the two: the terms of a row's sum, and what an element becomes with that.
struct OfSoftmax {
  template <class T>
  ACTORFLOW_HOST_DEVICE static T term(T y, T g) {
    return g * y;
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE static T result(T y, T g, T sum) {
    return (g - sum) * y;
  }
};

struct OfLogSoftmax {
  template <class T>
  ACTORFLOW_HOST_DEVICE static T term(T, T g) {
    return g;
  }
  template <class T>
  ACTORFLOW_HOST_DEVICE static T result(T y, T g, T sum) {
    return g - elementary::exp(y) * sum;
  }
};

// `dx` may be y or g.
template <class T>
struct SoftmaxBackward {
  Rows size;
  const T *y, *g;
  T* dx;
};

template <class Of, class T>
T sum_of_terms(std::int64_t columns, const T* y, const T* g) {
  constexpr std::int64_t block = 1024;
  T terms[block];
  double sum = 0;
  for (std::int64_t first = 0; first < columns; first += block) {
    const std::int64_t count = std::min(block, columns - first);
    for (std::int64_t j = 0; j < count; ++j) terms[j] = Of::term(y[first + j], g[first + j]);
    sum += reduce_run<SumReducer<T>>(terms, count);
  }
  return static_cast<T>(sum);
}

template <class Of, class T>
void backward_on_cpu(const SoftmaxBackward<T>& b) {
  vectorised([=] {
    const std::int64_t columns = b.size.columns;
    for (std::int64_t first = 0; first < b.size.rows * columns; first += columns) {
      const T *y = b.y + first, *g = b.g + first;
      T* dx = b.dx + first;
      const T sum = sum_of_terms<Of>(columns, y, g);
#pragma GCC ivdep
      for (std::int64_t j = 0; j < columns; ++j) dx[j] = Of::result(y[j], g[j], sum);
    }
  });
}

#ifdef ACTORFLOW_CUDA

// Of rows that a warp's registers hold.
template <class Of, int n, int per_thread, class T>
void backward_narrow(Device& device, const SoftmaxBackward<T>& b) {
  using Row = PackedRow<T, n, per_thread>;
  launch_rows(device, b.size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t columns = b.size.columns, first = row * columns;
    const Row y(columns, b.y + first), g(columns, b.g + first);
    T mine = 0;  // few terms
    Row::for_each_pair(y, g, [&](int, const Pack<T, n>& a, const Pack<T, n>& e) {
#pragma unroll
      for (int k = 0; k < n; ++k) mine += Of::term(a.values[k], e.values[k]);
    });
    const T sum = static_cast<T>(sum_in_warp(static_cast<double>(mine)));
    Row::for_each_pair(y, g, [&](int j, const Pack<T, n>& a, const Pack<T, n>& e) {
      Pack<T, n> dx;
#pragma unroll
      for (int k = 0; k < n; ++k) dx.values[k] = Of::result(a.values[k], e.values[k], sum);
      store_pack(b.dx + first + j, dx);
    });
  });
}

template <class Of, class T>
void backward_wide(Device& device, const SoftmaxBackward<T>& b) {
  launch_rows(device, b.size.rows, [=] __device__(std::int64_t row) {
    const std::int64_t first = row * b.size.columns;
    double mine = 0;
    for (std::int64_t j = first + threadIdx.x; j < first + b.size.columns; j += warp)
      mine += static_cast<double>(Of::term(b.y[j], b.g[j]));
    const T sum = static_cast<T>(sum_in_warp(mine));
    for (std::int64_t j = first + threadIdx.x; j < first + b.size.columns; j += warp)
      b.dx[j] = Of::result(b.y[j], b.g[j], sum);
  });
}

template <class Of, class T>
void backward_on_cuda(Device& device, const SoftmaxBackward<T>& b) {
  if (b.size.columns > most_narrow_columns) return backward_wide<Of>(device, b);
  with_elements_per_thread(b.size.columns, [&]<int per_thread>() {
    in_fours(b.size.columns, b.y, b.g, b.dx) ? backward_narrow<Of, 4, per_thread>(device, b)
                                             : backward_narrow<Of, 1, per_thread>(device, b);
  });
}

#endif

template <class Of, class T>
void run_backward(Device& device, const SoftmaxBackward<T>& b) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return backward_on_cuda<Of>(device, b);
#endif
  if (device.type() == DeviceType::cpu) backward_on_cpu<Of>(b);
}

template <class Of>
void compute_backward(OpContext& c) {
  if (c.input(0).shape() != c.input(1).shape())
    c.fail("an output and a gradient of one shape",
           c.input(0).describe() + " and " + c.input(1).describe());
  const Rows size = rows_of(c, c.input(0));
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    // The gradient, since the output of a softmax is often used by others, too.
    Tensor& dx = c.forward_or_allocate(1, 0, dtype_of<T>, c.input(0).shape());
    run_backward<Of>(c.device(), SoftmaxBackward<T>{size, static_cast<const T*>(c.input(0).data()),
                                             static_cast<const T*>(c.input(1).data()),
                                             static_cast<T*>(dx.mutable_data())});
  });
}

}  // namespace

Output softmax_gradient(Output y, Output g) { return add_node(softmax_grad_op(), {y, g}); }

Output log_softmax_gradient(Output y, Output g) { return add_node(log_softmax_grad_op(), {y, g}); }

std::vector<Op> softmax_gradient_ops() {
  return {on_all_devices<in_float32<compute_backward<OfSoftmax>>>(softmax_grad_op()),
          on_all_devices<in_float32<compute_backward<OfLogSoftmax>>>(log_softmax_grad_op())};
}

}  // namespace actorflow
