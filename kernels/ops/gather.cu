// Gather: the parts of a tensor that a tensor of indices names.
#include <algorithm>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/checked_axis.h"
#include "kernels/loops/indexing.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/devices/cuda_device.h"
#endif

namespace actorflow {
namespace {

void infer_gather(InferContext& c) {
  expect_dtype_in<PlainTypes>(c, 0);
  expect_dtype_in<IndexTypes>(c, 1);
  const Shape &x = c.input(0).shape, &indices = c.input(1).shape;
  if (!x.has_rank() || !indices.has_rank()) return c.add_output(c.input(0).dtype, Shape::unknown_rank());
  const int axis = checked_axis(c, c.attr<std::int64_t>("axis"), x.rank());
  c.add_output(c.input(0).dtype, gathered_shape(c, x, indices, axis));
}

// Whole rows of a table of known shape: the gradient is row-sparse, see indexed_slices().
Output gradient_of_rows(GradientContext& c) {
  const Shape& x = c.input(0).shape();
  Shape rows{Shape::unknown};
  for (int i = 1; i < x.rank(); ++i) rows.push_back(x[i]);
  Output values = c.gradient(), indices = cast(c.input(1), DType::int64);
  if (!indices.shape().has_rank() || indices.shape().rank() != 1) {
    values = reshape(values, rows);
    indices = reshape(indices, {Shape::unknown});
  }
  return unsorted_segment_sum(values, indices, x[0]);
}

// Indices that occur several times sum up.
std::vector<Output> gather_gradient(GradientContext& c) {
  const Shape& x = c.input(0).shape();
  const bool rows = c.attr<std::int64_t>("axis") == 0 && x.fully_known() && x.elements() > 0;
  if (rows) return {gradient_of_rows(c), Output()};
  return {scatter_add(zeros_like(c.input(0)), c.input(1), c.gradient(), c.attr<std::int64_t>("axis")),
          Output()};
}

const OpDef& gather_op() {
  static const OpDef op{.name = "Gather",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"axis", std::int64_t{0}}},
                        .infer = infer_gather,
                        .gradient = gather_gradient,
                        .gathers_rows = true};
  return op;
}

template <class T, class Index>
void gather_on_cpu(const Indexed& view, const T* x, const Index* indices, T* out) {
  for (std::int64_t i = 0; i < view.outer; ++i, x += view.dim * view.inner)
    for (std::int64_t k = 0; k < view.count; ++k, out += view.inner)
      std::copy_n(x + indices[k] * view.inner, view.inner, out);
}

#ifdef ACTORFLOW_CUDA

template <class T, class Index>
void gather_on_cuda(Device& device, const Indexed& view, const T* x, const Index* indices, T* out) {
  launch(device, view.outer * view.count * view.inner, [=] __device__(std::int64_t i) {
    const std::int64_t column = i % view.inner, part = i / view.inner;
    const std::int64_t index = indices[part % view.count];
    const bool valid = index >= 0 && index < view.dim;
    out[i] = valid ? x[(part / view.count * view.dim + index) * view.inner + column] : T(0);
  });
}

#endif

template <class T, class Index>
void run_gather(const OpContext& c, const Indexed& view, const T* x, const Index* indices, T* out) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda) return gather_on_cuda(c.device(), view, x, indices, out);
#endif
  check_indices<Index>(c, view.dim);
  gather_on_cpu(view, x, indices, out);
}

void gather_kernel(OpContext& c) {
  const Tensor &x = c.input(0), &indices = c.input(1);
  const int axis = checked_axis(c, attr<std::int64_t>(c.node(), "axis"), x.shape().rank());
  Tensor& out = c.allocate_output(0, x.dtype(), gathered_shape(c, x.shape(), indices.shape(), axis));
  dispatch_by_size(c, x, [&]<class T>() {
    dispatch<IndexTypes>(c, indices, [&]<class Index>() {
      run_gather(c, indexed(x.shape(), axis, indices.elements()), static_cast<const T*>(x.data()),
                 static_cast<const Index*>(indices.data()), static_cast<T*>(out.mutable_data()));
    });
  });
}

}  // namespace

Output gather(Output x, Output indices, std::int64_t axis) {
  return add_node(gather_op(), {x, indices}, {{"axis", axis}});
}

std::vector<Op> gather_ops() { return {on_all_devices<gather_kernel>(gather_op())}; }

}  // namespace actorflow
