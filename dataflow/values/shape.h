// Shapes of tensors, known or partly unknown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "dataflow/values/check.h"

namespace actorflow {

// A list of at most `max_rank` dimensions. A dimension of -1 is unknown; the rank itself may be unknown
// too. A tensor's own shape is always fully known; partly unknown shapes live in the graph.
// A value type without allocation.
class Shape {
 public:
  static constexpr int max_rank = 8;
  static constexpr std::int64_t unknown = -1;

  Shape() = default;  // A scalar.
  // Throws invalid_argument for a dimension below -1 or more than max_rank of them.
  Shape(std::initializer_list<std::int64_t> dims);
  explicit Shape(std::span<const std::int64_t> dims);
  static Shape unknown_rank();

  bool has_rank() const { return rank_ >= 0; }
  // The number of dimensions, -1 if unknown.
  int rank() const { return rank_; }
  // REQUIRES: has_rank() and 0 <= axis < rank().
  std::int64_t operator[](int axis) const { return dims_[place(axis)]; }
  void set(int axis, std::int64_t dim) { dims_[place(axis)] = dim; }
  // Of a shape with a name: a loop over those of a temporary would read what is gone.
  std::span<const std::int64_t> dims() const&;
  std::span<const std::int64_t> dims() const&& = delete;
  // Throws invalid_argument beyond max_rank. REQUIRES: has_rank().
  void push_back(std::int64_t dim);

  bool fully_known() const;
  // The product of the dimensions. Throws invalid_argument on overflow. REQUIRES: fully_known().
  std::int64_t elements() const;
  // True if every pair of known dimensions agrees.
  bool compatible_with(const Shape& other) const;
  // The shape with every dimension that either of the two knows. Throws invalid_argument if they are not
  // compatible.
  Shape merge(const Shape& other) const;

  // "[2,?,3]", "[]" for a scalar, "<unknown>" without a rank.
  std::string to_string() const;

  bool operator==(const Shape& other) const;

 private:
  std::size_t place(int axis) const {
    ACTORFLOW_CHECK(0 <= axis && axis < rank_, "axis", axis, "of rank", rank_);
    return static_cast<std::size_t>(axis);
  }

  std::array<std::int64_t, max_rank> dims_{};
  int rank_ = 0;
};

// The shape of an elementwise operation on both, by NumPy's rules. Throws invalid_argument if there is
// none.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace actorflow
