// Operators that move, choose and reduce elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "actors/import/imported_node.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"

namespace actorflow {
namespace {

using Ints = std::vector<std::int64_t>;
using Reduction = Output (*)(Output, const Ints&, bool);

// The product of two sizes; -1 if one of them is not known or the product is too large.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &result) ? -1 : result;
}

OnnxImport reduced_by(Reduction reduction) {
  return [reduction](ImportedNode& n) {
    const Ints axes = n.ints(1, "axes");
    if (axes.empty() && n.integer("noop_with_empty_axes", 0) != 0) return n.input(0);
    return reduction(n.input(0), axes, n.integer("keepdims", 1) != 0);
  };
}

Output argmax_import(ImportedNode& n) {
  if (n.integer("select_last_index", 0) != 0) n.refuse("of equal elements only the first is found");
  const int axis = n.axis(n.integer("axis", 0), 0);
  const Output index = argmax(n.input(0), axis);
  return n.integer("keepdims", 1) != 0 ? expand_dims(index, {axis}) : index;
}

// The number of elements of x over the dimensions that the wanted shape does not keep; negative if not
// known.
std::int64_t elements_for(const Ints& wanted, const Shape& x, bool keeps) {
  std::int64_t elements = 1;
  for (int i = 0; i < x.rank(); ++i)
    if (const auto at = static_cast<std::size_t>(i); !keeps || at >= wanted.size() || wanted[at] != 0)
      elements = product(elements, x[i]);
  return elements;
}

// What -1 stands for among dimensions of that many elements, or 1 if there is no -1; not known:
// negative. Throws invalid_argument where they do not fit.
std::int64_t open_dimension(const Ints& wanted, std::int64_t elements) {
  const auto open = std::ranges::count(wanted, -1);
  std::int64_t given = 1;
  for (const std::int64_t dim : wanted)
    if (dim > 0) given = product(given, dim);
  const bool fits = elements <= 0 || (given > 0 && elements % given == 0);
  if (open > 1 || !fits || (open == 0 && elements > 0 && elements != given))
    throw invalid_argument(fmt::format("a shape of ({}) for {} elements", fmt::join(wanted, ", "),
                                       elements < 0 ? "any number of" : std::to_string(elements)));
  return elements > 0 ? elements / given : -1;
}

// A 0 in the shape means the dimension of x, unless the attribute allowzero is set. -1 follows from the
// dimensions that are not kept in this way, so that a kept one need not be known.
Output reshape_import(ImportedNode& n) {
  const Output x = n.input(0);
  if (n.shape_of(1)) n.refuse("the shape is that of another tensor, which only a step knows");
  const int rank = n.rank(0);
  const Ints wanted = n.ints(1);
  const bool keeps = n.integer("allowzero", 0) == 0;
  const std::int64_t open = open_dimension(wanted, elements_for(wanted, x.shape(), keeps));
  Ints dims = wanted;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] == -1) dims[i] = open;
    if (wanted[i] != 0 || !keeps) continue;
    if (std::cmp_greater_equal(i, rank))
      throw invalid_argument(fmt::format("the shape keeps dimension {} of {}", i, x.type().to_string()));
    dims[i] = x.shape()[static_cast<int>(i)];
  }
  if (std::ranges::count(dims, -1) > 1) n.refuse("two dimensions of the result are not known");
  return reshape(x, Shape(dims));
}

// Two dimensions: all before the axis, and all from the axis on, which may be none.
Output flatten_import(ImportedNode& n) {
  const Shape shape = n.input(0).shape();
  const std::int64_t wanted = n.integer("axis", 1);
  const int axis = wanted == n.rank(0) ? n.rank(0) : n.axis(wanted, 0);
  std::int64_t inner = 1, outer = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    std::int64_t& side = i < axis ? outer : inner;
    side = product(side, shape[i]);
  }
  if (inner < 0 && outer < 0) n.refuse("two of its dimensions are not known");
  return reshape(n.input(0), {outer, inner});
}

// ONNX broadcasts both ways: where the shape has a dimension of 1, the result has that of x. So this is
// a product with ones of the shape.
Output expand_import(ImportedNode& n) {
  const Output x = n.input(0);
  if (x.dtype() == DType::boolean || x.dtype() == DType::string)
    n.refuse(fmt::format("{} is not expanded", x.type().to_string()));
  const Output like = n.shape_of(1);
  return x * (like ? cast(ones_like(like), x.dtype()) : fill(n.graph(), Shape(n.ints(1)), 1, x.dtype()));
}

Output unsqueeze_import(ImportedNode& n) { return expand_dims(n.input(0), n.ints(1, "axes")); }

Output squeeze_import(ImportedNode& n) {
  Ints axes = n.ints(1, "axes");
  const Shape& shape = n.input(0).shape();
  if (axes.empty())
    for (int i = 0; i < n.rank(0); ++i) {
      if (shape[i] < 0) n.refuse("a dimension is not known, and no axes are given");
      if (shape[i] == 1) axes.push_back(i);
    }
  return squeeze(n.input(0), axes);
}

Output transpose_import(ImportedNode& n) {
  Ints permutation = n.ints("perm");
  if (permutation.empty()) {
    permutation.resize(static_cast<std::size_t>(n.rank(0)));
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  Ints sorted = permutation;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<std::int64_t>(i))
      throw invalid_argument("its attribute 'perm' is no permutation");
  return exchanged(n.input(0), permutation);
}

// One end of a slice along an axis, from the front and within the tensor.
std::int64_t bound(ImportedNode& n, std::int64_t end, std::int64_t size) {
  if (size < 0 && end < 0) n.refuse("it counts from the end of a dimension that is not known");
  if (end < 0) end += size;
  return size < 0 ? std::max<std::int64_t>(end, 0) : std::clamp<std::int64_t>(end, 0, size);
}

Output slice_import(ImportedNode& n) {
  const Shape& shape = n.input(0).shape();
  const Ints starts = n.ints(1), ends = n.ints(2);
  Ints axes = n.has(3) ? n.ints(3) : Ints(starts.size());
  if (!n.has(3)) std::iota(axes.begin(), axes.end(), 0);
  const Ints steps = n.has(4) ? n.ints(4) : Ints(starts.size(), 1);
  Ints begin(static_cast<std::size_t>(n.rank(0)), 0), size(begin.size(), -1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    throw invalid_argument("starts, ends, axes and steps are not as many");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] != 1) n.refuse(fmt::format("it takes steps of {}", steps[i]));
    const int axis = n.axis(axes[i], 0);
    const std::int64_t all = shape[axis];
    auto& first = begin[static_cast<std::size_t>(axis)];
    first = bound(n, starts[i], all);
    if (ends[i] >= std::numeric_limits<std::int32_t>::max()) continue;  // to the end
    if (all < 0) n.refuse("it ends within a dimension that is not known");
    size[static_cast<std::size_t>(axis)] = std::max<std::int64_t>(0, bound(n, ends[i], all) - first);
  }
  return slice(n.input(0), begin, size);
}

Output concat_import(ImportedNode& n) { return concat(n.all_inputs(), n.integer("axis", 0)); }

Output pad_import(ImportedNode& n) {
  if (n.text("mode", "constant") != "constant") n.refuse("it pads with other elements than zeros");
  if (n.has(2) && n.number(2) != 0) n.refuse(fmt::format("it pads with {}", n.number(2)));
  if (n.has(3)) n.refuse("it pads some axes only");
  const Ints pads = n.ints(1);
  if (std::ranges::any_of(pads, [](auto size) { return size < 0; })) n.refuse("it cuts elements off");
  const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
  return pad(n.input(0), Ints(pads.begin(), pads.begin() + half), Ints(pads.begin() + half, pads.end()));
}

// The indices counted from the front: negative ones count from the end.
Output from_front(Output indices, Output x, int axis) {
  const std::int64_t known = x.shape()[axis];
  const Output size = known >= 0 ? scalar_like(indices, known)
                                 : cast(squeeze(slice(shape_of(x), {axis}, {1}), {0}), indices.dtype());
  return select(indices < 0, indices + size, indices);
}

Output gather_import(ImportedNode& n) {
  const int axis = n.axis(n.integer("axis", 0), 0);
  if (!n.is_constant(1)) return gather(n.input(0), from_front(n.input(1), n.input(0), axis), axis);
  Ints indices = n.ints(1);
  const std::int64_t size = n.input(0).shape()[axis];
  for (auto& index : indices) {
    if (index >= 0) continue;
    if (size < 0) n.refuse("an index counts from the end of a dimension that is not known");
    index += size;
  }
  return gather(n.input(0), n.graph().constant(Tensor::of<std::int64_t>(n.input(1).shape(), indices)),
                axis);
}

Output shape_import(ImportedNode& n) {
  if (n.integer("start", 0) != 0 || n.node().attrs.contains("end")) n.refuse("it is of some dimensions");
  return shape_of(n.input(0));
}

}  // namespace

OnnxImports shape_imports() {
  return {
      {"ReduceSum", reduced_by(sum)},  {"ReduceMean", reduced_by(mean)}, {"ReduceMax", reduced_by(max)},
      {"ReduceMin", reduced_by(min)},  {"ArgMax", argmax_import},        {"Shape", shape_import},
      {"Reshape", reshape_import},     {"Flatten", flatten_import},      {"Expand", expand_import},
      {"Unsqueeze", unsqueeze_import}, {"Squeeze", squeeze_import},      {"Transpose", transpose_import},
      {"Slice", slice_import},         {"Concat", concat_import},        {"Pad", pad_import},
      {"Gather", gather_import},
  };
}

}  // namespace actorflow
