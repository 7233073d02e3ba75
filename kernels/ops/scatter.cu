// ScatterAdd, ScatterUpdate and UnsortedSegmentSum: parts of a tensor go where a tensor of indices says.
#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/builtin_ops.h"
#include "kernels/loops/checked_axis.h"
#include "kernels/loops/indexing.h"
#include "kernels/loops/short_floats.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/loops/vectorised.h"
#include "kernels/ops.h"
#ifdef ACTORFLOW_CUDA
#include "kernels/loops/sorted_scatter.h"
#endif

namespace actorflow {
namespace {

template <class Types>
void infer_scatter(InferContext& c) {
  expect_dtype_in<Types>(c, 0);
  expect_dtype_in<IndexTypes>(c, 1);
  c.expect_dtype(2, c.input(0).dtype);
  const Shape &x = c.input(0).shape, &indices = c.input(1).shape;
  if (x.has_rank() && indices.has_rank()) {
    const int axis = checked_axis(c, c.attr<std::int64_t>("axis"), x.rank());
    const Shape updates = gathered_shape(c, x, indices, axis);
    if (!updates.compatible_with(c.input(2).shape))
      c.fail("updates of the shape " + updates.to_string(), c.input(2).to_string());
  }
  c.add_output(c.input(0).dtype, x);
}

// The dimensions of the data behind those of the ids, under a number of segments.
template <class Context>
Shape segments_shape(const Context& c, const Shape& data, const Shape& ids, std::int64_t segments) {
  bool leading = data.rank() >= ids.rank();
  for (int i = 0; leading && i < ids.rank(); ++i)
    leading = data[i] == ids[i] || data[i] == Shape::unknown || ids[i] == Shape::unknown;
  if (!leading)
    c.fail("segment ids for the leading dimensions of the data",
           data.to_string() + " and ids " + ids.to_string());
  Shape shape{segments};
  for (int i = ids.rank(); i < data.rank(); ++i) shape.push_back(data[i]);
  return shape;
}

void infer_segment_sum(InferContext& c) {
  expect_dtype_in<ArithmeticTypes>(c, 0);
  expect_dtype_in<IndexTypes>(c, 1);
  const auto segments = c.attr<std::int64_t>("num_segments");
  if (segments < 0) c.fail("no negative number of segments", std::to_string(segments));
  const Shape &data = c.input(0).shape, &ids = c.input(1).shape;
  const bool known = data.has_rank() && ids.has_rank();
  c.add_output(c.input(0).dtype, known ? segments_shape(c, data, ids, segments) : Shape::unknown_rank());
}

std::vector<Output> scatter_add_gradient(GradientContext& c) {
  const auto axis = c.attr<std::int64_t>("axis");
  return {c.gradient(), Output(), gather(c.gradient(), c.input(1), axis)};
}

std::vector<Output> scatter_update_gradient(GradientContext& c) {
  const auto axis = c.attr<std::int64_t>("axis");
  const Output indices = c.input(1), g = c.gradient();
  return {scatter_update(g, indices, zeros_like(c.input(2)), axis), Output(), gather(g, indices, axis)};
}

std::vector<Output> segment_sum_gradient(GradientContext& c) {
  return {gather(c.gradient(), c.input(1)), Output()};
}

OpDef scatter_def(std::string_view name, decltype(OpDef::infer) infer,
                  decltype(OpDef::gradient) gradient) {
  return {.name = name,
          .min_inputs = 3,
          .max_inputs = 3,
          .attrs = {{"axis", std::int64_t{0}}},
          .infer = infer,
          .gradient = gradient};
}

const OpDef& scatter_add_op() {
  static const OpDef op =
      scatter_def("ScatterAdd", infer_scatter<ArithmeticTypes>, scatter_add_gradient);
  return op;
}

const OpDef& scatter_update_op() {
  static const OpDef op =
      scatter_def("ScatterUpdate", infer_scatter<PlainTypes>, scatter_update_gradient);
  return op;
}

const OpDef& segment_sum_op() {
  static const OpDef op{.name = "UnsortedSegmentSum",
                        .min_inputs = 2,
                        .max_inputs = 2,
                        .attrs = {{"num_segments", std::int64_t{0}, true}},
                        .infer = infer_segment_sum,
                        .gradient = segment_sum_gradient,
                        .scatters_rows = true};
  return op;
}

struct Assign {
  template <class T>
  ACTORFLOW_HOST_DEVICE void operator()(T& place, T update) const {
    place = update;
  }
};

// In the order of the indices.
template <class Change, class T, class Index>
void scatter_on_cpu(const Indexed& view, const Index* indices, const T* updates, T* out) {
  vectorised([=] {
    for (std::int64_t i = 0; i < view.outer; ++i)
      for (std::int64_t k = 0; k < view.count; ++k) {
        const T* from = updates + (i * view.count + k) * view.inner;
        T* to = out + (i * view.dim + indices[k]) * view.inner;
#pragma GCC ivdep
        for (std::int64_t j = 0; j < view.inner; ++j) Change()(to[j], from[j]);
      }
  });
}

#ifdef ACTORFLOW_CUDA
template <class Change, class T, class Index>
void scatter_on_cuda(Device& device, const Indexed& view, const Index* indices, const T* updates,
                     T* out) {
  with_int_for(view.count, view.dim, [&]<class Int>() {
    const auto sorted = sort_indices<Int>(device, view.count, view.dim, ElementAt<Index>{indices});
    const SortedUpdates<Int, T> all{view, sorted.view(), updates, out};
    if constexpr (std::is_same_v<Change, Assign>)
      assign_sorted(device, all);
    else
      add_sorted<Change>(device, all);
  });
}
#endif

template <class Change, class T, class Index>
void run_scatter(const OpContext& c, const Indexed& view, const Index* indices, const T* updates,
                 T* out) {
#ifdef ACTORFLOW_CUDA
  if (c.device().type() == DeviceType::cuda)
    return scatter_on_cuda<Change>(c.device(), view, indices, updates, out);
#endif
  check_indices<Index>(c, view.dim);
  scatter_on_cpu<Change>(view, indices, updates, out);
}

// Output 0 with the content of x: in its memory if nobody else holds that.
Tensor& copy_of_first_input(OpContext& c) {
  const Tensor& x = c.input(0);
  Tensor& out = c.forward_or_allocate(0, 0, x.dtype(), x.shape());
  if (out.data() != x.data())
    strided_copy(c.device(), box_loops(x.shape(), x.shape(), x.shape()), {x}, {out});
  return out;
}

// Adds in the elements' type; assigning needs but their size.
template <class Change, class Body>
void dispatch_change(const OpContext& c, const Tensor& x, const Body& body) {
  if constexpr (std::is_same_v<Change, Assign>)
    dispatch_by_size(c, x, body);
  else
    dispatch<NumericTypes>(c, x, body);
}

template <class Change>
void scatter(OpContext& c) {
  const Tensor &x = c.input(0), &indices = c.input(1), &updates = c.input(2);
  const int axis = checked_axis(c, attr<std::int64_t>(c.node(), "axis"), x.shape().rank());
  dispatch_change<Change>(c, x, [&]<class T>() {
    dispatch<IndexTypes>(c, indices, [&]<class Index>() {
      const Indexed view = indexed(x.shape(), axis, indices.elements());
      Tensor& out = copy_of_first_input(c);
      run_scatter<Change>(c, view, static_cast<const Index*>(indices.data()),
                          static_cast<const T*>(updates.data()), static_cast<T*>(out.mutable_data()));
    });
  });
}

template <class Change>
void scatter_kernel(OpContext& c) {
  const Tensor &x = c.input(0), &updates = c.input(2);
  const int axis = checked_axis(c, attr<std::int64_t>(c.node(), "axis"), x.shape().rank());
  const Shape expected = gathered_shape(c, x.shape(), c.input(1).shape(), axis);
  if (updates.dtype() != x.dtype() || updates.shape() != expected)
    c.fail("updates of the tensor's dtype and the shape " + expected.to_string(), updates.describe());
  if constexpr (std::is_same_v<Change, Assign>)
    scatter<Change>(c);
  else
    compute_in_float32(c, scatter<Change>);
}

void segment_sum_kernel(OpContext& c) {
  const Tensor &data = c.input(0), &ids = c.input(1);
  const auto segments = attr<std::int64_t>(c.node(), "num_segments");
  Tensor& out =
      c.allocate_output(0, data.dtype(), segments_shape(c, data.shape(), ids.shape(), segments));
  clear(c.device(), out);
  dispatch<NumericTypes>(c, data, [&]<class T>() {
    dispatch<IndexTypes>(c, ids, [&]<class Index>() {
      run_scatter<AddTo>(c, indexed(out.shape(), 0, ids.elements()),
                         static_cast<const Index*>(ids.data()), static_cast<const T*>(data.data()),
                         static_cast<T*>(out.mutable_data()));
    });
  });
}

}  // namespace

Output scatter_add(Output x, Output indices, Output updates, std::int64_t axis) {
  return add_node(scatter_add_op(), {x, indices, updates}, {{"axis", axis}});
}
Output scatter_update(Output x, Output indices, Output updates, std::int64_t axis) {
  return add_node(scatter_update_op(), {x, indices, updates}, {{"axis", axis}});
}
Output unsorted_segment_sum(Output data, Output segment_ids, std::int64_t num_segments) {
  return add_node(segment_sum_op(), {data, segment_ids}, {{"num_segments", num_segments}});
}

std::vector<Op> scatter_ops() {
  return {on_all_devices<scatter_kernel<AddTo>>(scatter_add_op()),
          on_all_devices<scatter_kernel<Assign>>(scatter_update_op()),
          on_all_devices<in_float32<segment_sum_kernel>>(segment_sum_op())};
}

}  // namespace actorflow
