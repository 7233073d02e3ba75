#include "test/kernels/support/array_rows.h"

#include <algorithm>
#include <cmath>

#include "test/kernels/support/reference.h"

namespace actorflow::test {
namespace {

double softplus(double x) { return std::log1p(std::exp(x)); }
double rounded(double x) { return std::nearbyint(x); }

Attrs multiples(const Ints& list) { return {{"multiples", list}}; }
Attrs along(std::int64_t axis) { return {{"axis", axis}}; }

Reference tiled(const Ints& by) {
  return [by](const Arrays& in) {
    const Shape& x = in[0].shape;
    Shape shape;
    for (int axis = 0; axis < x.rank(); ++axis)
      shape.push_back(x[axis] * by[static_cast<std::size_t>(axis)]);
    return Arrays{array_of(shape, [&](Index i) {
      for (std::size_t axis = 0; axis < i.size(); ++axis) i[axis] %= x[static_cast<int>(axis)];
      return at(in[0], i);
    })};
  };
}

// The sum over all copies of an element.
Reference untiled(const Ints& by) {
  return [by](const Arrays& in) {
    Shape shape = in[0].shape;
    for (int axis = 0; axis < shape.rank(); ++axis)
      shape.set(axis, shape[axis] / by[static_cast<std::size_t>(axis)]);
    return Arrays{array_of(shape, [&](const Index& i) {
      double sum = 0;
      array_of(in[0].shape, [&](const Index& place) {
        bool copy = true;
        for (std::size_t axis = 0; axis < i.size(); ++axis)
          copy = copy && place[axis] % shape[static_cast<int>(axis)] == i[axis];
        sum += copy ? at(in[0], place) : 0;
        return 0.0;
      });
      return sum;
    })};
  };
}

Attrs running(std::int64_t axis, bool exclusive, bool reverse) {
  return {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}};
}

Reference running_sums(std::size_t axis, bool exclusive, bool reverse) {
  return [=](const Arrays& in) {
    return Arrays{array_of(in[0].shape, [&](const Index& i) {
      double sum = 0;
      Index place = i;
      for (place[axis] = 0; place[axis] < in[0].shape[static_cast<int>(axis)]; ++place[axis]) {
        const bool before = reverse ? place[axis] > i[axis] : place[axis] < i[axis];
        if (before || (!exclusive && place[axis] == i[axis])) sum += at(in[0], place);
      }
      return sum;
    })};
  };
}

Reference taken(std::size_t axis) {
  return [=](const Arrays& in) {
    return Arrays{array_of(in[1].shape, [&](const Index& i) {
      Index from = i;
      from[axis] = static_cast<std::int64_t>(at(in[1], i));
      return at(in[0], from);
    })};
  };
}

Reference added(std::size_t axis) {
  return [=](const Arrays& in) {
    return Arrays{array_of(in[2].shape, [&](const Index& i) {
      double sum = 0;
      Index place = i;
      for (place[axis] = 0; place[axis] < in[1].shape[static_cast<int>(axis)]; ++place[axis])
        if (static_cast<std::int64_t>(at(in[1], place)) == i[axis]) sum += at(in[0], place);
      return sum;
    })};
  };
}

// Of a matrix.
Reference top(std::int64_t k) {
  return [k](const Arrays& in) {
    const std::int64_t rows = in[0].shape[0], columns = in[0].shape[1];
    Arrays out{{{rows, k}, {}}, {{rows, k}, {}}};
    for (std::int64_t row = 0; row < rows; ++row) {
      std::vector<std::pair<double, std::int64_t>> all;
      for (std::int64_t i = 0; i < columns; ++i) all.emplace_back(-in[0][row * columns + i], i);
      std::ranges::sort(all);
      for (std::int64_t i = 0; i < k; ++i) {
        out[0].values.push_back(-all[static_cast<std::size_t>(i)].first);
        out[1].values.push_back(static_cast<double>(all[static_cast<std::size_t>(i)].second));
      }
    }
    return out;
  };
}

}  // namespace

std::vector<OpRow> array_rows() {
  const Input x{f32, {3, 5}}, cube{f32, {2, 3, 4}};
  const Input chosen{i64, {2, 5, 4}, 0, 3};
  return {
      {"Erf", "", {x}, {}, unary(std::erf)},
      {"Erf", "near 0", {{f32, {40}, -0.6, 0.6}}, {}, unary(std::erf)},
      {"Softplus", "", {{f32, {3, 5}, -20, 20}}, {}, unary(softplus)},
      {"Sin", "", {{f32, {40}, -9, 9}}, {}, unary(std::sin)},
      {"Sin", "far from 0", {{f32, {9}, 1e3, 1e4}}, {}, unary(std::sin)},
      {"Cos", "", {{f32, {40}, -9, 9}}, {}, unary(std::cos)},
      {"Floor", "", {{f32, {9}, -9, 9}}, {}, unary(std::floor)},
      {"Ceil", "", {{f32, {9}, -9, 9}}, {}, unary(std::ceil)},
      {"Round", "", {{f32, {9}, -9, 9}}, {}, unary(rounded)},
      {"StopGradient", "", {x}, {}, unary(same)},
      {"Tile", "", {cube}, multiples({2, 1, 3}), tiled({2, 1, 3})},
      {"Tile", "integers", {{i32, {4}, -9, 9}}, multiples({3}), tiled({3})},
      {"TileGrad", "", {{f32, {4, 3, 6}}}, multiples({2, 1, 3}), untiled({2, 1, 3})},
      {"CumSum", "rows", {cube}, running(-1, false, false), running_sums(2, false, false)},
      {"CumSum", "exclusive", {cube}, running(1, true, false), running_sums(1, true, false)},
      {"CumSum", "reverse", {cube}, running(0, false, true), running_sums(0, false, true)},
      {"CumSum", "both", {x}, running(1, true, true), running_sums(1, true, true)},
      {"CumSum",
       "integers",
       {{i64, {9}, -9, 9}},
       running(0, false, false),
       running_sums(0, false, false)},
      {"CumSum",
       "rows of more than a warp",
       {{i32, {3, 301}, -9, 9}},
       running(1, false, true),
       running_sums(1, false, true)},
      {"CumSum",
       "long lines side by side",
       {{i64, {130, 33}, -9, 9}},
       running(0, true, false),
       running_sums(0, true, false)},
      {"CumSum", "one element", {{f32, {1}}}, running(0, false, false), running_sums(0, false, false)},
      {"CumSum", "of nothing", {{f32, {2, 0}}}, running(0, false, false), running_sums(0, false, false)},
      {"TakeAlongAxis", "", {cube, chosen}, along(1), taken(1)},
      {"TakeAlongAxis", "rows", {x, {i32, {3, 2}, 0, 5}}, along(-1), taken(1)},
      {"AddAlongAxis", "", {{f32, {2, 5, 4}}, chosen, cube}, along(1), added(1)},
      {"AddAlongAxis",
       "long rows",
       {{f32, {3, 41}}, {i32, {3, 41}, 0, 7}, {f32, {3, 7}}},
       along(-1),
       added(1)},
      {"AddAlongAxis",
       "long lines of integers",
       {{i64, {2, 300, 3}, -9, 9}, {i64, {2, 300, 3}, 0, 2}, {i64, {2, 2, 3}}},
       along(1),
       added(1)},
      {"TopK", "", {{f32, {4, 9}}}, {{"k", std::int64_t{3}}}, top(3)},
      {"TopK", "whole rows of integers", {{i32, {4, 9}, 0, 5}}, {{"k", std::int64_t{9}}}, top(9)},
      {"TopK", "one element", {{f32, {1, 1}}}, {{"k", std::int64_t{1}}}, top(1)},
      {"TopK", "of no rows", {{f32, {0, 5}}}, {{"k", std::int64_t{2}}}, top(2)},
      {"TopK", "much of long rows", {{i64, {3, 700}, -25, 25}}, {{"k", std::int64_t{100}}}, top(100)},
      {"TopK", "one long row", {{i32, {1, 20'001}, -900, 900}}, {{"k", std::int64_t{3}}}, top(3)},
  };
}

}  // namespace actorflow::test
