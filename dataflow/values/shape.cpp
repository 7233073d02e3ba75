#include "dataflow/values/shape.h"

#include <algorithm>

#include "dataflow/values/check.h"
#include "dataflow/values/error.h"

namespace actorflow {

Shape::Shape(std::initializer_list<std::int64_t> dims)
    : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

Shape::Shape(std::span<const std::int64_t> dims) {
  for (auto dim : dims) push_back(dim);
}

Shape Shape::unknown_rank() {
  Shape shape;
  shape.rank_ = -1;
  return shape;
}

std::span<const std::int64_t> Shape::dims() const& {
  return {dims_.data(), static_cast<std::size_t>(std::max(rank_, 0))};
}

void Shape::push_back(std::int64_t dim) {
  ACTORFLOW_CHECK(has_rank(), "dimension", dim, "of a shape of unknown rank");
  if (dim < unknown)
    throw invalid_argument("a dimension must be >= 0, or -1 if unknown, but is " + std::to_string(dim));
  if (rank_ >= max_rank)
    throw invalid_argument("a shape has at most " + std::to_string(max_rank) + " dimensions");
  dims_[static_cast<std::size_t>(rank_++)] = dim;
}

bool Shape::fully_known() const {
  return has_rank() && std::ranges::none_of(dims(), [](auto dim) { return dim == unknown; });
}

std::int64_t Shape::elements() const {
  ACTORFLOW_CHECK(fully_known(), to_string());
  std::int64_t product = 1;
  for (auto dim : dims())
    if (__builtin_mul_overflow(product, dim, &product))
      throw invalid_argument("a tensor of shape " + to_string() + " has more than 2^63 elements");
  return product;
}

bool Shape::compatible_with(const Shape& other) const {
  if (!has_rank() || !other.has_rank()) return true;
  return std::ranges::equal(dims(), other.dims(),
                            [](auto a, auto b) { return a == unknown || b == unknown || a == b; });
}

Shape Shape::merge(const Shape& other) const {
  if (!compatible_with(other))
    throw invalid_argument("shapes " + to_string() + " and " + other.to_string() + " do not agree");
  if (!has_rank()) return other;
  if (!other.has_rank()) return *this;
  Shape merged = *this;
  for (int axis = 0; axis < rank_; ++axis)
    if (merged[axis] == unknown) merged.set(axis, other[axis]);
  return merged;
}

std::string Shape::to_string() const {
  if (!has_rank()) return "<unknown>";
  std::string text = "[";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) text += ',';
    text += (*this)[axis] == unknown ? "?" : std::to_string((*this)[axis]);
  }
  return text + "]";
}

bool Shape::operator==(const Shape& other) const {
  return rank_ == other.rank_ && std::ranges::equal(dims(), other.dims());
}

Shape broadcast(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return Shape::unknown_rank();
  const int rank = std::max(a.rank(), b.rank());
  Shape result;
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank()), in_b = axis - (rank - b.rank());
    const auto dim_a = in_a < 0 ? 1 : a[in_a], dim_b = in_b < 0 ? 1 : b[in_b];
    if (dim_a == dim_b || dim_b == 1)
      result.push_back(dim_a);
    else if (dim_a == 1)
      result.push_back(dim_b);
    else if (dim_a == Shape::unknown || dim_b == Shape::unknown)
      result.push_back(std::max(dim_a, dim_b));
    else
      throw invalid_argument("shapes " + a.to_string() + " and " + b.to_string() +
                             " do not broadcast: dimensions " + std::to_string(dim_a) + " and " +
                             std::to_string(dim_b) + " differ and neither is 1");
  }
  return result;
}

}  // namespace actorflow
