// More functions that programs compute with, beside those of kernels/ops.h: joining, dividing and
// repeating arrays, indices, running sums, and a few elementary functions. An axis of -1 is the last
// one. Mistakes in types and shapes throw invalid_argument at once; unless stated otherwise all have
// gradients.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// arrays.cpp, built of other ops.

// Tensors of one type as the parts of a new axis.
Output stack(const std::vector<Output>& parts, std::int64_t axis = 0);
// The parts along an axis of known length, which vanishes.
std::vector<Output> unstack(Output x, std::int64_t axis = 0);
// x cut along an axis: into parts of these sizes, which add up to the axis's length; or into `count`
// equal parts of an axis of known length. Of an axis of unknown length the last part fails when it does
// not end there.
std::vector<Output> split(Output x, const std::vector<std::int64_t>& sizes, std::int64_t axis);
std::vector<Output> split(Output x, std::int64_t count, std::int64_t axis);
// slice() of a part that ends where x ends, along all axes; it fails when it runs if the sizes say
// otherwise.
Output slice_to_end(Output x, const std::vector<std::int64_t>& begin,
                    const std::vector<std::int64_t>& size);
// x without these axes, whose dimensions are 1.
Output squeeze(Output x, const std::vector<std::int64_t>& axes);
// [n]: begin, begin + step, ... before `end`, as a constant. No gradient.
Output range(Graph& graph, std::int64_t begin, std::int64_t end, std::int64_t step = 1,
             DType dtype = DType::int64);
// [..., depth] with a new axis: `on` where the place along it is the index, else `off`; all `off` for an
// index outside [0, depth). Indices are int32 or int64. No gradient.
Output one_hot(Output indices, std::int64_t depth, DType dtype = DType::float32, std::int64_t axis = -1,
               double on = 1, double off = 0);
// Each element kept within [low, high]; the gradient flows to elements that were within.
Output clip(Output x, double low, double high);
// The mean of the squares of the distances from the mean, over `axes`, or over all. Floating.
Output variance(Output x, const std::vector<std::int64_t>& axes = {}, bool keep_dims = false);
// Whether any element, or all elements, of a bool tensor are true: over `axes`, or over all axes. No
// gradient.
Output any(Output x, const std::vector<std::int64_t>& axes = {}, bool keep_dims = false);
Output all(Output x, const std::vector<std::int64_t>& axes = {}, bool keep_dims = false);

// tile.cu: x repeated multiples[i] times along axis i. Its dimensions and the axes that are repeated are
// at most 8 together.
Output tile(Output x, const std::vector<std::int64_t>& multiples);

// cumsum.cu: running sums along an axis. Exclusive sums leave out the element itself; reverse ones begin
// at the end. float32 is summed in float64.
Output cumsum(Output x, std::int64_t axis = 0, bool exclusive = false, bool reverse = false);

// along_axis.cu: the element of x that the index chooses along the axis, for each index at its own place
// (NumPy's take_along_axis). The shapes of x and the indices may differ along the axis only. An index
// out of range fails on a CPU; on a GPU it reads 0.
Output take_along_axis(Output x, Output indices, std::int64_t axis);
// The gradient of take_along_axis(): zeros of the shape of `like`, to which each value is added at the
// place that its index chooses.
Output add_along_axis(Output values, Output indices, Output like, std::int64_t axis);

// top_k.cu: the k largest elements of each row, the largest first, and their int64 places; of
// equal ones the first comes first, and NaN counts as the largest.
struct TopK {
  Output values, indices;
};
TopK top_k(Output x, std::int64_t k);

// special_functions.cu, floating.
Output erf(Output x);
Output softplus(Output x);  // log(1 + e^x)
Output sin(Output x);
Output cos(Output x);
Output floor(Output x);     // no gradient
Output ceil(Output x);      // no gradient
Output round(Output x);     // half-way cases to the even number; no gradient
// x itself, through which no gradient flows. Any dtype.
Output stop_gradient(Output x);

// activations.cpp: as Keras names them; floating.
Output silu(Output x);  // x sigmoid(x)
Output leaky_relu(Output x, double slope = 0.2);
Output elu(Output x, double alpha = 1);
Output selu(Output x);

// einsum.cpp: sums of products by Einstein's convention, as numpy.einsum: "bij,bjk->bik" is a batched
// product of matrices, "ij->ji" a transposition, "i,i->" a scalar product. "..." stands for any leading
// dimensions, which broadcast. Without "->" the result has the labels that occur once, in alphabetical
// order. Lowered to transposing, batch_matmul() and sums; several operands are taken from left to right.
// Throws invalid_argument for a label that is twice in one operand.
Output einsum(std::string_view equation, const std::vector<Output>& operands);

}  // namespace actorflow
