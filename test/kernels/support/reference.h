// The language in which the op table's references are written: arrays of float64 and plain indices.
// Nothing here is fast, and nothing is shared with the kernels.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "test/kernels/support/op_table.h"

namespace actorflow::test {

using Index = std::vector<std::int64_t>;
using Ints = std::vector<std::int64_t>;
using Rows = std::vector<OpRow>;

constexpr DType f32 = DType::float32, i32 = DType::int32, i64 = DType::int64;

// The elements f(index), for all indices of the shape in row-major order.
inline Array array_of(const Shape& shape, const std::function<double(const Index&)>& f) {
  Array array{shape, {}};
  Index index(static_cast<std::size_t>(shape.rank()), 0);
  for (std::int64_t count = shape.elements(); count > 0; --count) {
    array.values.push_back(f(index));
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      auto& place = index[static_cast<std::size_t>(axis)];
      if (++place < shape[axis]) break;
      place = 0;
    }
  }
  return array;
}

// The element at an index of a shape that the array broadcasts to: leading dimensions may be missing,
// and dimensions of 1 repeat.
inline double at(const Array& array, const Index& index) {
  const auto missing = index.size() - static_cast<std::size_t>(array.shape.rank());
  std::int64_t flat = 0;
  for (int axis = 0; axis < array.shape.rank(); ++axis) {
    const std::int64_t dim = array.shape[axis];
    flat = flat * dim + (dim == 1 ? 0 : index[missing + static_cast<std::size_t>(axis)]);
  }
  return array[flat];
}

inline double same(double x) { return x; }
inline double relu(double x) { return x > 0 ? x : 0; }
inline double relu_grad(double g, double y) { return y > 0 ? g : 0; }
inline double add(double a, double b) { return a + b; }

inline Reference unary(double (*f)(double)) {
  return [f](const Arrays& in) {
    return Arrays{array_of(in[0].shape, [&](const Index& i) { return f(at(in[0], i)); })};
  };
}

inline Reference binary(double (*f)(double, double)) {
  return [f](const Arrays& in) {
    const Shape shape = broadcast(in[0].shape, in[1].shape);
    return Arrays{array_of(shape, [&](const Index& i) { return f(at(in[0], i), at(in[1], i)); })};
  };
}

inline Attrs transposed(bool a, bool b) { return {{"transpose_a", a}, {"transpose_b", b}}; }

using Fold = double (*)(const std::vector<double>&);

inline double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}
inline double mean_of(const std::vector<double>& values) {
  return sum_of(values) / static_cast<double>(values.size());
}
inline double largest(const std::vector<double>& values) { return *std::ranges::max_element(values); }
inline double smallest(const std::vector<double>& values) { return *std::ranges::min_element(values); }
inline double place_of_largest(const std::vector<double>& values) {
  return static_cast<double>(std::ranges::max_element(values) - values.begin());
}

// For every index of `kept`, which is the input's shape with 1 for the reduced dimensions: fold of the
// input's elements that fall there. `shape` is that of the result.
inline Reference reduction(const Shape& kept, const Shape& shape, Fold fold) {
  return [=](const Arrays& in) {
    Array result = array_of(kept, [&](const Index& place) {
      std::vector<double> values;
      array_of(in[0].shape, [&](const Index& i) {
        bool here = true;
        for (std::size_t axis = 0; axis < i.size(); ++axis)
          here = here && (kept[static_cast<int>(axis)] == 1 || i[axis] == place[axis]);
        if (here) values.push_back(at(in[0], i));
        return 0.0;
      });
      return fold(values);
    });
    result.shape = shape;
    return Arrays{result};
  };
}

// The same value for all inputs.
inline Reference always(const Array& value) {
  return [=](const Arrays&) { return Arrays{value}; };
}

// The same elements under another shape.
inline Reference with_shape(const Shape& shape) {
  return [=](const Arrays& in) { return Arrays{{shape, in[0].values}}; };
}

// A tensor of this shape whose element at an index is the first input's at source(index), divided.
inline Reference rearranged(const Shape& shape, const std::function<Index(const Index&)>& source,
                            double divisor = 1) {
  return [=](const Arrays& in) {
    return Arrays{array_of(shape, [&](const Index& i) { return at(in[0], source(i)) / divisor; })};
  };
}

}  // namespace actorflow::test
