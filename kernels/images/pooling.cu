// MaxPool and AvgPool over windows of images, and their gradients.
#include "kernels/images/pooling.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/packs.h"
#endif

namespace actorflow {
namespace {

const OpDef& avg_pool_op();
const OpDef& max_pool_grad_op();
const OpDef& avg_pool_grad_op();

void expect_images(const InferContext& c) {
  expect_dtype_in<FloatingTypes>(c, 0);
  c.expect_same_dtype();
  for (int i = 0; i < c.inputs(); ++i) c.expect_rank(i, 4);
}

void infer_pool(InferContext& c) {
  expect_images(c);
  const Extent windows = expect_extent(c, "ksize");
  const Shape& images = c.input(0).shape;
  c.add_output(c.input(0).dtype, infer_sliding(c, expect_sliding(c), windows.height, windows.width,
                                               images.has_rank() ? images[3] : Shape::unknown));
}

void infer_pool_grad(InferContext& c) {
  expect_images(c);
  expect_extent(c, "ksize");
  expect_sliding(c);
  c.add_output(c.input(0).dtype, c.input(0).shape);
}

std::vector<Output> max_pool_gradient(GradientContext& c) {
  return {c.graph().add(max_pool_grad_op(), {c.input(0), c.output(0), c.gradient()}, c.node().attrs)};
}

std::vector<Output> avg_pool_gradient(GradientContext& c) {
  return {c.graph().add(avg_pool_grad_op(), {c.input(0), c.gradient()}, c.node().attrs)};
}

std::vector<Output> avg_pool_grad_gradient(GradientContext& c) {
  return {Output(), c.graph().add(avg_pool_op(), {c.gradient()}, c.node().attrs)};
}

OpDef pool_def(std::string_view name, int inputs, decltype(OpDef::infer) infer,
               decltype(OpDef::gradient) gradient) {
  OpDef def{.name = name,
            .min_inputs = inputs,
            .max_inputs = inputs,
            .attrs = sliding_attrs(),
            .infer = infer,
            .gradient = gradient};
  def.attrs.emplace_back("ksize", std::vector<std::int64_t>{1, 1, 1, 1}, true);
  return def;
}

const OpDef& max_pool_op() {
  static const OpDef op = pool_def("MaxPool", 1, infer_pool, max_pool_gradient);
  return op;
}

const OpDef& avg_pool_op() {
  static const OpDef op = pool_def("AvgPool", 1, infer_pool, avg_pool_gradient);
  return op;
}

// (images, outputs, gradient) -> gradient of the images.
const OpDef& max_pool_grad_op() {
  static const OpDef op = pool_def("MaxPoolGrad", 3, infer_pool_grad, no_gradient_yet);
  return op;
}

// (images, of which the shape counts, gradient) -> gradient of the images.
const OpDef& avg_pool_grad_op() {
  static const OpDef op = pool_def("AvgPoolGrad", 2, infer_pool_grad, avg_pool_grad_gradient);
  return op;
}

#ifdef ACTORFLOW_CUDA

// On the GPU a thread computes n neighbouring channels of the result, and gathers what it needs: no two
// threads add to one place, so the sums have one order.

struct ImagePlace {
  std::int64_t image, row, column, channel;
};

template <class Index>
__device__ ImagePlace divided(Index i, Index rows, Index columns, Index channels) {
  const Index pixel = i / channels, line = pixel / columns;
  return {line / rows, line % rows, pixel % columns, i % channels};
}

__device__ inline ImagePlace place_in(std::int64_t i, std::int64_t rows, std::int64_t columns,
                                      std::int64_t channels) {
  using Short = std::uint32_t;  // dividing these takes a fraction of the time
  if ((i | (rows * columns * channels)) > 0xffff'ffff) return divided(i, rows, columns, channels);
  return divided(static_cast<Short>(i), static_cast<Short>(rows), static_cast<Short>(columns),
                 static_cast<Short>(channels));
}

__device__ inline std::int64_t flat(const PoolShape& s, const ImagePlace& at, std::int64_t row,
                                    std::int64_t column) {
  return ((at.image * s.rows.input + row) * s.columns.input + column) * s.channels + at.channel;
}

// Calls body(row, column, channels) for each place of a window, row by row.
template <int n, class T, class Body>
__device__ void for_each_in_window(const PoolShape& s, const PoolWindow& w, const ImagePlace& at,
                                   const T* x, const Body& body) {
  for (std::int64_t row = w.first_row; row < w.last_row; ++row)
    for (std::int64_t column = w.first_column; column < w.last_column; ++column)
      body(row, column, load_pack<n>(x + flat(s, at, row, column)));
}

template <class T>
struct MaxOfWindow {
  PoolShape s;
  const T* x;
  T* y;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, s.rows.output, s.columns.output, s.channels);
    Pack<T, n> best;
#pragma unroll
    for (int k = 0; k < n; ++k) best.values[k] = -std::numeric_limits<T>::infinity();
    for_each_in_window<n>(s, PoolWindow(s, at.row, at.column), at, x,
                          [&](std::int64_t, std::int64_t, const Pack<T, n>& pack) {
#pragma unroll
                            for (int k = 0; k < n; ++k) {
                              const T value = pack.values[k];
                              if (value > best.values[k] || value != value) best.values[k] = value;
                            }
                          });
    store_pack(y + i, best);
  }
};

template <class T>
struct MeanOfWindow {
  PoolShape s;
  const T* x;
  T* y;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, s.rows.output, s.columns.output, s.channels);
    const PoolWindow w(s, at.row, at.column);
    double sums[n] = {};
    for_each_in_window<n>(s, w, at, x, [&](std::int64_t, std::int64_t, const Pack<T, n>& pack) {
#pragma unroll
      for (int k = 0; k < n; ++k) sums[k] += static_cast<double>(pack.values[k]);
    });
    Pack<T, n> means;
#pragma unroll
    for (int k = 0; k < n; ++k)
      means.values[k] = static_cast<T>(sums[k] / static_cast<double>(w.elements()));
    store_pack(y + i, means);
  }
};

// Calls body(window, index of its output) for each window over an element of the images.
template <class Body>
__device__ void for_each_window_over(const PoolShape& s, const ImagePlace& at, const Body& body) {
  const std::int64_t last_row = s.rows.last_place(at.row), last = s.columns.last_place(at.column);
  for (std::int64_t row = s.rows.first_place(at.row); row < last_row; ++row)
    for (std::int64_t column = s.columns.first_place(at.column); column < last; ++column)
      body(PoolWindow(s, row, column),
           ((at.image * s.rows.output + row) * s.columns.output + column) * s.channels + at.channel);
}

// The first maximum of a window in each channel gets the window's gradient.
template <class T>
struct GradientOfMax {
  PoolShape s;
  const T *x, *y, *g;
  T* dx;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, s.rows.input, s.columns.input, s.channels);
    Pack<T, n> sums = {};
    for_each_window_over(s, at, [&](const PoolWindow& w, std::int64_t out) {
      const Pack<T, n> maximum = load_pack<n>(y + out), gradient = load_pack<n>(g + out);
      bool found[n] = {};
      for_each_in_window<n>(
          s, w, at, x, [&](std::int64_t row, std::int64_t column, const Pack<T, n>& pack) {
            const bool here = row == at.row && column == at.column;
#pragma unroll
            for (int k = 0; k < n; ++k) {
              const T value = pack.values[k];
              const bool first = !found[k] && (value == maximum.values[k] || value != value);
              if (first && here) sums.values[k] += gradient.values[k];
              found[k] |= first;
            }
          });
    });
    store_pack(dx + i, sums);
  }
};

// GradientOfMax where no windows overlap: images are divided into cells of a stride, and a window is in
// the cell that it begins with. A thread computes a whole cell, and reads everything once.
template <class T>
struct GradientOfMaxInCell {
  PoolShape s;
  std::int64_t rows, columns;  // of cells
  const T *x, *y, *g;
  T* dx;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, rows, columns, s.channels);
    const PoolWindow w(s, at.row, at.column);
    const bool has_window = at.row < s.rows.output && at.column < s.columns.output;
    Pack<T, n> maximum = {}, gradient = {};
    bool open[n];
    if (has_window) {
      const std::int64_t out =
          ((at.image * s.rows.output + at.row) * s.columns.output + at.column) * s.channels + at.channel;
      maximum = load_pack<n>(y + out);
      gradient = load_pack<n>(g + out);
    }
#pragma unroll
    for (int k = 0; k < n; ++k) open[k] = has_window;
    for_each_in_cell(at, [&](std::int64_t row, std::int64_t column, std::int64_t place) {
      Pack<T, n> passed = {};
      if (has_window && row < w.last_row && column < w.last_column) {
        const Pack<T, n> pack = load_pack<n>(x + place);
#pragma unroll
        for (int k = 0; k < n; ++k) {
          const T value = pack.values[k];
          const bool hit = open[k] && (value == maximum.values[k] || value != value);
          if (hit) passed.values[k] = gradient.values[k];
          open[k] &= !hit;
        }
      }
      store_pack(dx + place, passed);
    });
  }

 private:
  template <class Body>
  __device__ void for_each_in_cell(const ImagePlace& at, const Body& body) const {
    const std::int64_t top = s.rows.begin(at.row), left = s.columns.begin(at.column);
    const std::int64_t bottom = ::min(top + s.rows.stride, s.rows.input);
    const std::int64_t right = ::min(left + s.columns.stride, s.columns.input);
    for (std::int64_t row = ::max(top, std::int64_t{0}); row < bottom; ++row)
      for (std::int64_t column = ::max(left, std::int64_t{0}); column < right; ++column)
        body(row, column, flat(s, at, row, column));
  }
};

template <class T>
struct GradientOfMean {
  PoolShape s;
  const T* g;
  T* dx;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, s.rows.input, s.columns.input, s.channels);
    Pack<T, n> sums = {};
    for_each_window_over(s, at, [&](const PoolWindow& w, std::int64_t out) {
      const Pack<T, n> gradient = load_pack<n>(g + out);
      const T elements = static_cast<T>(w.elements());
#pragma unroll
      for (int k = 0; k < n; ++k) sums.values[k] += gradient.values[k] / elements;
    });
    store_pack(dx + i, sums);
  }
};

// Runs a body over all elements of a tensor of images; the other pointers are what it reads.
template <class Body, class... Inputs>
void launch_pooling(const OpContext& c, const PoolShape& s, Tensor& images, const Body& body,
                    const Inputs*... inputs) {
  if (images.elements() == 0) return;
  launch_packs(c.device(), {images.elements() / s.channels, s.channels},
               in_fours(s.channels, images.data(), inputs...), body);
}

template <class T>
void max_pool_grad_on_cuda(const OpContext& c, const PoolShape& s, Tensor& gradient, const T* x,
                           const T* y, const T* g) {
  T* dx = static_cast<T*>(gradient.mutable_data());
  if (gradient.elements() == 0) return;
  if (!s.apart()) return launch_pooling(c, s, gradient, GradientOfMax<T>{s, x, y, g, dx}, x, y, g);
  const auto cells = [](const SlidingAxis& a) { return (a.input + a.before - 1) / a.stride + 1; };
  const std::int64_t rows = cells(s.rows), columns = cells(s.columns);
  launch_packs(c.device(), {s.batch * rows * columns, s.channels}, in_fours(s.channels, x, y, g, dx),
               GradientOfMaxInCell<T>{s, rows, columns, x, y, g, dx});
}

#endif

PoolShape pool_shape(const OpContext& c) {
  const Shape& x = c.input(0).shape();
  if (x.rank() != 4) c.fail("images [batch, height, width, channels]", c.input(0).describe());
  const Sliding sliding = sliding_of(c.node());
  const Extent windows = extent_of(attr<std::vector<std::int64_t>>(c.node(), "ksize"));
  return {x[0], x[3], sliding.rows(c, x, windows.height), sliding.columns(c, x, windows.width)};
}

void expect_outputs(const OpContext& c, int input, const PoolShape& shape) {
  const Tensor& tensor = c.input(input);
  if (tensor.dtype() != c.input(0).dtype() || tensor.shape() != shape.outputs())
    c.fail("an input " + std::to_string(input) + " of shape " + shape.outputs().to_string(),
           tensor.describe());
}

// Calls body(part, image, output) for each part of the batch, on several threads where they are free:
// the part's shape, and where its images and outputs begin.
template <class Body>
void for_each_part(const OpContext& c, const PoolShape& s, const Body& body) {
  constexpr std::int64_t worth_a_thread = 1 << 16;
  const auto wanted = std::min(s.batch, s.batch * s.image_elements() / worth_a_thread);
  share_out(c.team(), Shares(s.batch, wanted, 4), [&](std::int64_t first, std::int64_t last) {
    PoolShape part = s;
    part.batch = last - first;
    body(part, first * s.image_elements(), first * s.output_elements());
  });
}

template <bool maximum>
void compute_pool(OpContext& c) {
  const PoolShape s = pool_shape(c);
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    Tensor& output = c.allocate_output(0, dtype_of<T>, s.outputs());
    const T* x = data_of<T>(c.input(0));
    T* y = static_cast<T*>(output.mutable_data());
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda) {
      if constexpr (maximum)
        return launch_pooling(c, s, output, MaxOfWindow<T>{s, x, y}, x);
      else
        return launch_pooling(c, s, output, MeanOfWindow<T>{s, x, y}, x);
    }
#endif
    for_each_part(c, s, [&](const PoolShape& part, std::int64_t image, std::int64_t out) {
      maximum ? max_pool_on_cpu(part, x + image, y + out) : avg_pool_on_cpu(part, x + image, y + out);
    });
  });
}

void compute_max_pool_grad(OpContext& c) {
  const PoolShape s = pool_shape(c);
  for (const int input : {1, 2}) expect_outputs(c, input, s);
  const bool on_cpu = c.device().type() == DeviceType::cpu;
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    Tensor& gradient = on_cpu && s.apart() ? c.forward_or_allocate(0, 0, dtype_of<T>, s.images())
                                           : c.allocate_output(0, dtype_of<T>, s.images());
    const T *x = data_of<T>(c.input(0)), *y = data_of<T>(c.input(1)), *g = data_of<T>(c.input(2));
    T* dx = static_cast<T*>(gradient.mutable_data());
#ifdef ACTORFLOW_CUDA
    if (!on_cpu) return max_pool_grad_on_cuda(c, s, gradient, x, y, g);
#endif
    for_each_part(c, s, [&](const PoolShape& part, std::int64_t image, std::int64_t out) {
      if (s.apart()) {
        max_pool_grad_on_cpu<true>(part, x + image, y + out, g + out, dx + image);
        return clear_between_windows(part, dx + image);
      }
      std::fill_n(dx + image, part.batch * s.image_elements(), T(0));
      max_pool_grad_on_cpu<false>(part, x + image, y + out, g + out, dx + image);
    });
  });
}

void compute_avg_pool_grad(OpContext& c) {
  const PoolShape s = pool_shape(c);
  expect_outputs(c, 1, s);
  dispatch<FloatingTypes>(c, c.input(0), [&]<class T>() {
    Tensor& gradient = c.allocate_output(0, dtype_of<T>, s.images());
    const T* g = data_of<T>(c.input(1));
    T* dx = static_cast<T*>(gradient.mutable_data());
#ifdef ACTORFLOW_CUDA
    if (c.device().type() == DeviceType::cuda)
      return launch_pooling(c, s, gradient, GradientOfMean<T>{s, g, dx}, g);
#endif
    for_each_part(c, s, [&](const PoolShape& part, std::int64_t image, std::int64_t out) {
      std::fill_n(dx + image, part.batch * s.image_elements(), T(0));
      avg_pool_grad_on_cpu(part, g + out, dx + image);
    });
  });
}

Output pool(const OpDef& op, Output images, Extent windows, Extent strides, Padding padding) {
  Attrs attrs = sliding_values(strides, padding);
  attrs["ksize"] = extent_value(windows);
  return add_node(op, {images}, attrs);
}

}  // namespace

Output max_pool(Output images, Extent windows, Extent strides, Padding padding) {
  return pool(max_pool_op(), images, windows, strides, padding);
}

Output avg_pool(Output images, Extent windows, Extent strides, Padding padding) {
  return pool(avg_pool_op(), images, windows, strides, padding);
}

std::vector<Op> pooling_ops() {
  return {on_all_devices<compute_pool<true>>(max_pool_op()),
          on_all_devices<compute_pool<false>>(avg_pool_op()),
          on_all_devices<compute_max_pool_grad>(max_pool_grad_op()),
          on_all_devices<compute_avg_pool_grad>(avg_pool_grad_op())};
}

}  // namespace actorflow
