#include "kernels/ops/arrays.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "kernels/core/dtypes.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using List = std::vector<std::int64_t>;

[[noreturn]] void refuse(const char* function, const Output& x, const std::string& expected,
                         const std::string& actual) {
  throw invalid_argument(std::string(function) + "() of '" + x.name() + "', " + x.type().to_string() +
                         ": expected " + expected + ", got " + actual);
}

// The axis counted from the front, of a tensor of `rank` dimensions.
int checked_axis(const char* function, const Output& x, std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank)
    refuse(function, x, "an axis from " + std::to_string(-rank) + " to " + std::to_string(rank - 1),
           std::to_string(axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// The rank of x. Throws if it is unknown.
int rank_of(const char* function, const Output& x) {
  if (!x.shape().has_rank()) refuse(function, x, "a tensor of known rank", "one without");
  return x.shape().rank();
}

std::int64_t known_length(const char* function, const Output& x, int axis) {
  const auto length = x.shape()[axis];
  if (length == Shape::unknown)
    refuse(function, x, "an axis of known length", "axis " + std::to_string(axis));
  return length;
}

Output part_of(const Output& x, std::int64_t begin, std::int64_t size, int axis, bool is_last) {
  const auto rank = static_cast<std::size_t>(x.shape().rank());
  List begins(rank, 0), sizes(rank, -1);
  begins[static_cast<std::size_t>(axis)] = begin;
  sizes[static_cast<std::size_t>(axis)] = size;
  return is_last ? slice_to_end(x, begins, sizes) : slice(x, begins, sizes);
}

}  // namespace

Output element(Output x, std::int64_t index, std::int64_t axis) {
  const int place = checked_axis("element", x, axis, rank_of("element", x));
  const auto length = x.shape()[place];
  if (length == Shape::unknown ? index < 0 : index < -length || index >= length)
    refuse("element", x,
           length == Shape::unknown
               ? "an index from 0 on, since the length of the axis is unknown"
               : "an index from " + std::to_string(-length) + " to " + std::to_string(length - 1),
           std::to_string(index));
  return gather(x, x.graph->constant(index < 0 ? index + length : index), place);
}

Output stack(const std::vector<Output>& parts, std::int64_t axis) {
  if (parts.empty()) throw invalid_argument("stack() of no tensors was asked for");
  const int place = checked_axis("stack", parts[0], axis, rank_of("stack", parts[0]) + 1);
  std::vector<Output> expanded;
  for (const auto& part : parts) expanded.push_back(expand_dims(part, {place}));
  return concat(expanded, place);
}

std::vector<Output> unstack(Output x, std::int64_t axis) {
  const int place = checked_axis("unstack", x, axis, rank_of("unstack", x));
  std::vector<Output> parts;
  for (std::int64_t i = 0; i < known_length("unstack", x, place); ++i)
    parts.push_back(element(x, i, place));
  return parts;
}

std::vector<Output> split(Output x, const List& sizes, std::int64_t axis) {
  const int place = checked_axis("split", x, axis, rank_of("split", x));
  const auto length = x.shape()[place],
             sum = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (std::ranges::any_of(sizes, [](auto size) { return size < 0; }) ||
      (length != Shape::unknown && sum != length))
    refuse("split", x, "sizes of 0 or more that add up to the length of axis " + std::to_string(place),
           "a sum of " + std::to_string(sum));
  std::vector<Output> parts;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_last = length == Shape::unknown && i + 1 == sizes.size();
    parts.push_back(part_of(x, begin, sizes[i], place, is_last));
    begin += sizes[i];
  }
  return parts;
}

std::vector<Output> split(Output x, std::int64_t count, std::int64_t axis) {
  const int place = checked_axis("split", x, axis, rank_of("split", x));
  const auto length = known_length("split", x, place);
  if (count < 1 || length % count != 0)
    refuse("split", x, "a number of parts that divides " + std::to_string(length),
           std::to_string(count));
  return split(x, List(static_cast<std::size_t>(count), length / count), place);
}

Output squeeze(Output x, const List& axes) {
  const int rank = rank_of("squeeze", x);
  std::vector<bool> gone(static_cast<std::size_t>(rank));
  for (const auto axis : axes) {
    const int place = checked_axis("squeeze", x, axis, rank);
    if (x.shape()[place] != 1) refuse("squeeze", x, "axes of length 1", "axis " + std::to_string(place));
    gone[static_cast<std::size_t>(place)] = true;
  }
  Shape shape;
  List kept;
  for (int i = 0; i < rank; ++i)
    if (!gone[static_cast<std::size_t>(i)]) shape.push_back(x.shape()[i]), kept.push_back(i);
  if (std::ranges::count(shape.dims(), Shape::unknown) <= 1) return reshape(x, shape);
  // A shape with several unknown dimensions cannot be asked for; the sum over an axis of 1 is the same.
  if (axes.empty()) return x;
  if (!ArithmeticTypes::contains(x.dtype()))
    refuse("squeeze", x, "numbers, where several dimensions are unknown",
           std::string(to_string(x.dtype())));
  return sum(x, axes);
}

Output range(Graph& graph, std::int64_t begin, std::int64_t end, std::int64_t step, DType dtype) {
  if (step == 0) throw invalid_argument("range() needs a step that is not 0");
  using Number = std::uint64_t;  // distances of int64 fit
  const bool up = step > 0;
  const Number stride = up ? static_cast<Number>(step) : Number{0} - static_cast<Number>(step);
  const Number distance = up ? static_cast<Number>(end) - static_cast<Number>(begin)
                             : static_cast<Number>(begin) - static_cast<Number>(end);
  const bool is_empty = up ? begin >= end : begin <= end;
  List values(is_empty ? 0 : (distance - 1) / stride + 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int64_t>(static_cast<Number>(begin) + i * static_cast<Number>(step));
  return cast(graph.constant(Tensor::of<std::int64_t>({std::ssize(values)}, values)), dtype);
}

Output one_hot(Output indices, std::int64_t depth, DType dtype, std::int64_t axis, double on,
               double off) {
  const int rank = rank_of("one_hot", indices);
  const int place = checked_axis("one_hot", indices, axis, rank + 1);
  if (depth < 0) refuse("one_hot", indices, "a depth of 0 or more", std::to_string(depth));
  if (indices.dtype() != DType::int32 && indices.dtype() != DType::int64)
    refuse("one_hot", indices, "indices of int32 or int64", std::string(to_string(indices.dtype())));
  List behind;
  for (int i = place + 1; i <= rank; ++i) behind.push_back(i - place);
  const Output classes = range(*indices.graph, 0, depth, 1, indices.dtype());
  const Output hit = expand_dims(indices, {place}) == expand_dims(classes, behind);
  if (on == 1 && off == 0) return cast(hit, dtype);
  return select(hit, fill(*indices.graph, {}, on, dtype), fill(*indices.graph, {}, off, dtype));
}

Output clip(Output x, double low, double high) {
  if (!(low <= high))
    throw invalid_argument("clip() needs a lower bound that is not above the upper one, got " +
                           std::to_string(low) + " and " + std::to_string(high));
  return minimum(maximum(x, scalar_like(x, low)), scalar_like(x, high));
}

Output variance(Output x, const List& axes, bool keep_dims) {
  return mean(square(x - mean(x, axes, true)), axes, keep_dims);
}

Output any(Output x, const List& axes, bool keep_dims) {
  if (x.dtype() != DType::boolean) refuse("any", x, "bool", std::string(to_string(x.dtype())));
  return max(cast(x, DType::int32), axes, keep_dims) > 0;
}

Output all(Output x, const List& axes, bool keep_dims) {
  if (x.dtype() != DType::boolean) refuse("all", x, "bool", std::string(to_string(x.dtype())));
  return min(cast(x, DType::int32), axes, keep_dims) > 0;
}

}  // namespace actorflow
