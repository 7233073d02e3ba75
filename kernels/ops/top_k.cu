// TopK: the largest elements of each row.
#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/core/dtypes.h"
#include "kernels/devices/host_device.h"
#include "kernels/loops/rows.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/sort_pairs.h"
#include "kernels/loops/warp_rows.h"
#endif

namespace actorflow {
namespace {

template <class Context>
Shape top_shape(const Context& c, std::int64_t k, const Shape& x) {
  if (x.rank() < 1) c.fail("a tensor with a last axis", x.to_string());
  const int last = x.rank() - 1;
  if (k < 1 || (x[last] != Shape::unknown && k > x[last]))
    c.fail("k from 1 to the length of a row of " + x.to_string(), std::to_string(k));
  Shape shape = x;
  shape.set(last, k);
  return shape;
}

void infer_top_k(InferContext& c) {
  expect_dtype_in<NumericTypes>(c, 0);
  const Shape& x = c.input(0).shape;
  const Shape shape = x.has_rank() ? top_shape(c, c.attr<std::int64_t>("k"), x) : x;
  c.add_output(c.input(0).dtype, shape);
  c.add_output(DType::int64, shape);
}

std::vector<Output> top_k_gradient(GradientContext& c) {
  if (!c.gradient(0)) return {Output()};
  return {add_along_axis(c.gradient(0), c.output(1), c.input(0), -1)};
}

const OpDef& top_k_op() {
  static const OpDef op{.name = "TopK",
                        .min_inputs = 1,
                        .max_inputs = 1,
                        .attrs = {{.name = "k", .example = std::int64_t{1}, .required = true}},
                        .infer = infer_top_k,
                        .gradient = top_k_gradient};
  return op;
}

// Whether element i of a row comes before element j: NaN counts as the largest, and the first of equal
// ones comes first.
template <class T>
struct ComesFirst {
  const T* row;
  ACTORFLOW_HOST_DEVICE bool operator()(std::int64_t i, std::int64_t j) const {
    const T a = row[i], b = row[j];
    if (a != a || b != b) return (a != a) == (b != b) ? i < j : a != a;
    return a != b ? a > b : i < j;
  }
};

template <class T>
void top_on_cpu(Rows size, std::int64_t k, const T* x, T* values, std::int64_t* indices) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size.columns));
  for (std::int64_t row = 0; row < size.rows; ++row, x += size.columns, values += k, indices += k) {
    std::iota(order.begin(), order.end(), 0);
    std::ranges::partial_sort(order, order.begin() + k, ComesFirst<T>{x});
    std::copy_n(order.begin(), k, indices);
    for (std::int64_t i = 0; i < k; ++i) values[i] = x[indices[i]];
  }
}

#ifdef ACTORFLOW_CUDA

// An unsigned number for each element, ascending in the order of ComesFirst. Zeros are equal, and so are
// NaNs.
template <class T>
struct KeyOfElement {
  using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const T* x;

  __device__ Key operator()(std::int64_t place) const {
    constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
    T value = x[place];
    if (value != value) return 0;
    if (value == T(0)) value = T(0);
    const auto bits = std::bit_cast<Key>(value);
    if constexpr (std::is_floating_point_v<T>) return (bits & sign) != 0 ? bits : ~(bits | sign);
    return ~(bits ^ sign);
  }
};

// A warp finds the top of a row in k passes over it: the first of those behind the last one.
template <class T>
void top_by_passes(Device& device, Rows size, std::int64_t k, const T* x, T* values,
                   std::int64_t* indices) {
  launch_rows(device, size.rows, [=] __device__(std::int64_t row) {
    const ComesFirst<T> comes_first{x + row * size.columns};
    std::int64_t last = -1;
    for (std::int64_t i = 0; i < k; ++i) {
      std::int64_t best = -1;
      for (std::int64_t j = threadIdx.x; j < size.columns; j += warp)
        if ((last < 0 || comes_first(last, j)) && (best < 0 || comes_first(j, best))) best = j;
      last = combine_in_warp(best, [=](std::int64_t a, std::int64_t b) {
        if (a < 0 || b < 0) return a < 0 ? b : a;
        return comes_first(b, a) ? b : a;
      });
      if (threadIdx.x == 0) {
        values[row * k + i] = comes_first.row[last];
        indices[row * k + i] = last;
      }
    }
  });
}

template <class Int, class T>
void top_by_sorting(Device& device, Rows size, std::int64_t k, const T* x, T* values,
                    std::int64_t* indices) {
  using KeyOf = KeyOfElement<T>;
  const auto sorted = sort_rows<Int, typename KeyOf::Key>(device, size, KeyOf{x});
  launch(device, size.rows * k, [=, places = sorted.data()] __device__(std::int64_t i) {
    const std::int64_t first = i / k * size.columns;
    const auto place = static_cast<std::int64_t>(places[first + i % k]);
    values[i] = x[place];
    indices[i] = place - first;
  });
}

// Sorting takes some ten launches, and reads and writes all elements several times.
template <class T>
void top_on_cuda(Device& device, Rows size, std::int64_t k, const T* x, T* values,
                 std::int64_t* indices) {
  constexpr std::int64_t most_by_passes = 1 << 14, most_in_32_bits = 0xffff'ffff;
  if (k * size.columns <= most_by_passes)
    top_by_passes(device, size, k, x, values, indices);
  else if (size.rows * size.columns <= most_in_32_bits)
    top_by_sorting<std::uint32_t>(device, size, k, x, values, indices);
  else
    top_by_sorting<std::uint64_t>(device, size, k, x, values, indices);
}

#endif

template <class T>
void find_top([[maybe_unused]] Device& device, Rows size, std::int64_t k, const T* x, T* values,
              std::int64_t* indices) {
#ifdef ACTORFLOW_CUDA
  if (device.type() == DeviceType::cuda) return top_on_cuda(device, size, k, x, values, indices);
#endif
  top_on_cpu(size, k, x, values, indices);
}

void top_k_kernel(OpContext& c) {
  const Tensor& x = c.input(0);
  const auto k = attr<std::int64_t>(c.node(), "k");
  const Shape shape = top_shape(c, k, x.shape());
  Tensor& values = c.allocate_output(0, x.dtype(), shape);
  Tensor& indices = c.allocate_output(1, DType::int64, shape);
  dispatch<NumericTypes>(c, x, [&]<class T>() {
    find_top(c.device(), rows_of(c, x), k, static_cast<const T*>(x.data()),
             static_cast<T*>(values.mutable_data()), static_cast<std::int64_t*>(indices.mutable_data()));
  });
}

}  // namespace

TopK top_k(Output x, std::int64_t k) {
  const Output values = add_node(top_k_op(), {x}, {{"k", k}});
  return {values, values.output(1)};
}

std::vector<Op> top_k_ops() { return {on_all_devices<top_k_kernel>(top_k_op())}; }

}  // namespace actorflow
