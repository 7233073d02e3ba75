#include "test/kernels/support/model_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "test/kernels/support/attention_rows.h"
#include "test/kernels/support/reference.h"

namespace actorflow::test {
namespace {

double normal_distribution(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double normal_density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * M_PI); }
double gelu(double x) { return x * normal_distribution(x); }
double gelu_grad(double g, double x) { return g * (normal_distribution(x) + x * normal_density(x)); }

double tanh_part(double x) { return std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)); }
double approximate_gelu(double x) { return x * (1 + tanh_part(x)) / 2; }
double approximate_gelu_grad(double g, double x) {
  const double t = tanh_part(x), slope = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  return g * ((1 + t) / 2 + x * (1 - t * t) * slope / 2);
}

Attrs axis(std::int64_t value) { return {{"axis", value}}; }
Attrs approximate() { return {{"approximate", true}}; }

// The index into x for an index into the gathered tensor: the dimensions of the indices, from `axis` on,
// become the one that they choose.
Index source_of(const Array& indices, int axis, const Index& gathered) {
  const auto first = gathered.begin() + axis, last = first + indices.shape.rank();
  Index source(gathered.begin(), first);
  source.push_back(static_cast<std::int64_t>(at(indices, Index(first, last))));
  source.insert(source.end(), last, gathered.end());
  return source;
}

Reference gathered(const Shape& shape, int axis) {
  return [=](const Arrays& in) {
    return Arrays{array_of(shape, [&](const Index& i) { return at(in[0], source_of(in[1], axis, i)); })};
  };
}

// `change(old, update)` wherever an index points.
Reference scattered(int axis, double (*change)(double, double)) {
  return [=](const Arrays& in) {
    Array result = in[0];
    array_of(in[2].shape, [&](const Index& i) {
      std::int64_t flat = 0;
      const Index place = source_of(in[1], axis, i);
      for (std::size_t d = 0; d < place.size(); ++d)
        flat = flat * in[0].shape[static_cast<int>(d)] + place[d];
      auto& value = result.values[static_cast<std::size_t>(flat)];
      value = change(value, at(in[2], i));
      return 0.0;
    });
    return Arrays{result};
  };
}

double sum_of_two(double a, double b) { return a + b; }
double second(double, double b) { return b; }

Reference segment_sum(const Shape& shape) {
  return [=](const Arrays& in) {
    Arrays with_zeros{array_of(shape, [](const Index&) { return 0.0; }), in[1], in[0]};
    return scattered(0, sum_of_two)(with_zeros);
  };
}

Rows gather_rows() {
  const Input table{f32, {6, 5}}, cube{f32, {2, 4, 3}};
  return {
      {"Gather", "rows", {table, {i32, {8}, 0, 6}}, {}, gathered({8, 5}, 0)},
      {"Gather", "a matrix of rows", {table, {i64, {2, 3}, 0, 6}}, {}, gathered({2, 3, 5}, 0)},
      {"Gather", "one row", {table, {i32, {}, 0, 6}}, {}, gathered({5}, 0)},
      {"Gather", "the middle axis", {cube, {i32, {5}, 0, 4}}, axis(1), gathered({2, 5, 3}, 1)},
      {"Gather", "the last axis", {cube, {i32, {2, 2}, 0, 3}}, axis(-1), gathered({2, 4, 2, 2}, 2)},
      {"Gather", "nothing", {table, {i32, {0}, 0, 6}}, {}, gathered({0, 5}, 0)},
      {"Gather", "integers", {{i64, {6}, -9, 9}, {i32, {8}, 0, 6}}, {}, gathered({8}, 0)},
  };
}

Rows scatter_rows() {
  const Input table{f32, {6, 5}}, cube{f32, {2, 4, 3}};
  return {
      {"ScatterAdd",
       "rows, some twice",
       {table, {i32, {8}, 0, 6}, {f32, {8, 5}}},
       {},
       scattered(0, sum_of_two)},
      {"ScatterAdd",
       "the middle axis",
       {cube, {i64, {2, 2}, 0, 4}, {f32, {2, 2, 2, 3}}},
       axis(1),
       scattered(1, sum_of_two)},
      {"ScatterAdd",
       "integers",
       {{i32, {6}, -9, 9}, {i32, {8}, 0, 6}, {i32, {8}, -9, 9}},
       {},
       scattered(0, sum_of_two)},
      {"ScatterUpdate", "a row", {table, {i32, {1}, 0, 6}, {f32, {1, 5}}}, {}, scattered(0, second)},
      {"ScatterUpdate",
       "the last axis",
       {cube, {i64, {}, 0, 3}, {f32, {2, 4}}},
       axis(-1),
       scattered(2, second)},
      {"UnsortedSegmentSum",
       "",
       {{f32, {7, 3}}, {i32, {7}, 0, 4}},
       {{"num_segments", std::int64_t{4}}},
       segment_sum({4, 3})},
      {"UnsortedSegmentSum",
       "a matrix of ids",
       {{f32, {2, 3, 2}}, {i64, {2, 3}, 0, 4}},
       {{"num_segments", std::int64_t{4}}},
       segment_sum({4, 2})},
      {"UnsortedSegmentSum",
       "segments of thousands",
       {{i64, {7000, 2}, -9, 9}, {i32, {7000}, 0, 2}},
       {{"num_segments", std::int64_t{3}}},
       segment_sum({3, 2})},
  };
}

// Tables of rows 0 to 3, 4 to 6 and 7 to 9; or, by `mod`, of every third row.
Reference partitioned_ids(bool mod) {
  return [=](const Arrays& in) {
    Arrays lists(6, Array{{0}, {}});
    const auto append = [](Array& list, double value) {
      list.values.push_back(value);
      list.shape = {static_cast<std::int64_t>(list.values.size())};
    };
    for (std::size_t place = 0; place < in[0].values.size(); ++place) {
      const int id = static_cast<int>(in[0].values[place]);
      const int range = id < 4   ? 0
                        : id < 7 ? 1
                                 : 2,
                first = std::array{0, 4, 7}[static_cast<std::size_t>(range)];
      const auto part = static_cast<std::size_t>(mod ? id % 3 : range);
      append(lists[part], mod ? id / 3 : id - first);
      append(lists[part + 3], static_cast<double>(place));
    }
    return lists;
  };
}

// A row of the one part, a row of the other, for ids of this shape.
Reference stitched_rows(const Shape& shape) {
  return [=](const Arrays& in) {
    return Arrays{array_of(shape, [&](const Index& i) {
      const Array& rows = in[1][0] == static_cast<double>(i[i.size() - 2]) ? in[3] : in[4];
      return at(rows, {0, i.back()});
    })};
  };
}

Rows embedding_rows() {
  const std::vector<std::int64_t> boundaries{0, 4, 7, 10};
  const Input zero{i64, {1}, 0, 1}, one{i64, {1}, 1, 2}, row{f32, {1, 3}};
  return {
      {"PartitionIds", "", {{i32, {40}, 0, 10}}, {{"boundaries", boundaries}}, partitioned_ids(false)},
      {"PartitionIds",
       "by mod, a matrix",
       {{i64, {5, 8}, 0, 10}},
       {{"boundaries", boundaries}, {"mod", true}},
       partitioned_ids(true)},
      {"PartitionIds", "nothing", {{i32, {0}}}, {{"boundaries", boundaries}}, partitioned_ids(false)},
      {"StitchRows", "", {{i64, {2}, 0, 9}, zero, one, row, row}, {}, stitched_rows({2, 3})},
      {"StitchRows",
       "a matrix of ids",
       {{i64, {1, 2}, 0, 9}, one, zero, row, row},
       {},
       stitched_rows({1, 2, 3})},
  };
}

constexpr double row_epsilon = 0.01;

// Of the row that an index falls in: mean and 1 / sqrt(variance + row_epsilon).
struct Moments {
  double mean = 0, scale = 0;

  Moments(const Array& x, Index i) {
    const std::int64_t columns = x.shape[x.shape.rank() - 1];
    double squares = 0;
    for (i.back() = 0; i.back() < columns; ++i.back()) mean += at(x, i) / static_cast<double>(columns);
    for (i.back() = 0; i.back() < columns; ++i.back())
      squares += (at(x, i) - mean) * (at(x, i) - mean) / static_cast<double>(columns);
    scale = 1 / std::sqrt(squares + row_epsilon);
  }
};

double normalised(const Array& x, const Index& i) {
  const Moments moments(x, i);
  return (at(x, i) - moments.mean) * moments.scale;
}

Arrays layer_norm(const Arrays& in) {
  return {array_of(in[0].shape,
                   [&](const Index& i) { return normalised(in[0], i) * at(in[1], i) + at(in[2], i); })};
}

// Of (g, x, gamma), by the chain rule over every element of the row.
Arrays layer_norm_grad(const Arrays& in) {
  const Array &g = in[0], &x = in[1], &gamma = in[2];
  const std::int64_t columns = gamma.shape[0];
  const auto n = static_cast<double>(columns);
  const Array dx = array_of(x.shape, [&](const Index& i) {
    double total = 0;
    Index k = i;
    for (k.back() = 0; k.back() < columns; ++k.back()) {
      const double same = k == i ? 1.0 : 0.0;
      const double slope = same - 1 / n - normalised(x, k) * normalised(x, i) / n;
      total += at(g, k) * at(gamma, k) * slope * Moments(x, i).scale;
    }
    return total;
  });
  Array dgamma{gamma.shape, std::vector<double>(gamma.values.size())}, dbeta = dgamma;
  array_of(x.shape, [&](const Index& i) {
    const auto column = static_cast<std::size_t>(i.back());
    dgamma.values[column] += at(g, i) * normalised(x, i);
    dbeta.values[column] += at(g, i);
    return 0.0;
  });
  return {dx, dgamma, dbeta};
}

Rows normalisation_rows() {
  const Attrs attrs{{"epsilon", row_epsilon}};
  const Input matrix{f32, {5, 7}}, row{f32, {7}}, cube{f32, {2, 3, 4}};
  return {
      {"LayerNorm", "", {matrix, row, row}, attrs, layer_norm, 2e-6},
      {"LayerNorm", "three axes", {cube, {f32, {4}}, {f32, {4}}}, attrs, layer_norm, 2e-6},
      {"LayerNorm", "wide rows", {{f32, {2, 100}}, {f32, {100}}, {f32, {100}}}, attrs, layer_norm, 2e-6},
      {"LayerNorm", "nothing", {{f32, {0, 4}}, {f32, {4}}, {f32, {4}}}, attrs, layer_norm},
      {"LayerNormGrad", "", {matrix, matrix, row}, attrs, layer_norm_grad, 4e-6},
      {"LayerNormGrad", "three axes", {cube, cube, {f32, {4}}}, attrs, layer_norm_grad, 4e-6},
  };
}

// Of matrices [inner] long; at() repeats what is broadcast.
Reference batch_matmul(const Shape& shape, std::int64_t inner, bool transpose_a, bool transpose_b) {
  return [=](const Arrays& in) {
    return Arrays{array_of(shape, [&](const Index& i) {
      Index left = i, right = i;
      auto &row = left[left.size() - 2], &column = right.back();
      const std::int64_t r = row, c = column;
      double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k) {
        row = transpose_a ? k : r;
        left.back() = transpose_a ? r : k;
        right[right.size() - 2] = transpose_b ? c : k;
        column = transpose_b ? k : c;
        sum += at(in[0], left) * at(in[1], right);
      }
      return sum;
    })};
  };
}

OpRow batch_row(std::string_view covers, const Shape& a, const Shape& b, const Shape& product,
                std::int64_t inner, bool transpose_a = false, bool transpose_b = false) {
  return {"BatchMatMul",
          covers,
          {{f32, a}, {f32, b}},
          transposed(transpose_a, transpose_b),
          batch_matmul(product, inner, transpose_a, transpose_b)};
}

Rows batch_rows() {
  return {
      batch_row("", {3, 4, 5}, {3, 5, 2}, {3, 4, 2}, 5),
      batch_row("a transposed", {3, 5, 4}, {3, 5, 2}, {3, 4, 2}, 5, true, false),
      batch_row("b transposed", {3, 4, 5}, {3, 2, 5}, {3, 4, 2}, 5, false, true),
      batch_row("both transposed", {3, 5, 4}, {3, 2, 5}, {3, 4, 2}, 5, true, true),
      batch_row("a shared", {4, 5}, {3, 5, 2}, {3, 4, 2}, 5),
      batch_row("b shared", {3, 4, 5}, {1, 5, 2}, {3, 4, 2}, 5),
      batch_row("b shared, both transposed", {3, 5, 4}, {2, 5}, {3, 4, 2}, 5, true, true),
      batch_row("two batch dimensions", {2, 1, 4, 3}, {5, 3, 2}, {2, 5, 4, 2}, 3),
      batch_row("matrices", {4, 5}, {5, 2}, {4, 2}, 5),
      batch_row("of nothing", {3, 4, 0}, {3, 0, 2}, {3, 4, 2}, 0),
      batch_row("no batch", {0, 4, 5}, {0, 5, 2}, {0, 4, 2}, 5),
      {"BatchMatMul",
       "bf16",
       {{f32, {2, 20, 32}, -1, 1}, {f32, {32, 30}, -1, 1}},
       {{"precision", std::string("bf16")}},
       batch_matmul({2, 20, 30}, 32, false, false),
       0.03},
  };
}

// The mask is checked in the suite "dropout_mask".
Rows activation_rows() {
  const Input x{f32, {3, 5}, -4, 4};
  return {
      {"Gelu", "", {x}, {}, unary(gelu)},
      {"Gelu", "approximate", {x}, approximate(), unary(approximate_gelu)},
      {"GeluGrad", "", {x, x}, {}, binary(gelu_grad)},
      {"GeluGrad", "approximate", {x, x}, approximate(), binary(approximate_gelu_grad)},
      {"Dropout",
       "",
       {{f32, {3, 101}}, {i64, {}, 0, 1000}},
       {{"rate", 0.4}, {"seed", std::int64_t{7}}},
       {}},
  };
}

// TensorFlow's limits (core/lib/histogram/histogram.cc).
std::vector<double> bucket_limits() {
  std::vector<double> limits{0, std::numeric_limits<double>::max()};
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) limits.push_back(limit);
  for (std::size_t i = 1, end = limits.size(); i < end; ++i) limits.push_back(-limits[i]);
  std::ranges::sort(limits);
  return limits;
}

Arrays histogram(const Arrays& in) {
  const std::vector<double>& x = in[0].values;
  const auto limits = bucket_limits();
  Array statistics{{6}, {0, 0, static_cast<double>(x.size()), 0, 0, 0}};
  Array counts{{static_cast<std::int64_t>(limits.size())}, std::vector<double>(limits.size())};
  for (const double value : x) {
    statistics.values[3] += value;
    statistics.values[4] += value * value;
    counts.values[static_cast<std::size_t>(std::ranges::upper_bound(limits, value) - limits.begin())] +=
        1;
  }
  if (!x.empty()) {
    statistics.values[0] = smallest(x);
    statistics.values[1] = largest(x);
  }
  return {statistics, counts};
}

// What is not finite is checked in the suite "histogram".
Rows summary_rows() {
  return {
      {"Histogram", "", {{f32, {3, 40}}}, {}, histogram},
      {"Histogram", "in parts", {{f32, {100'000}, -1e-3, 1e-3}}, {}, histogram},
      {"Histogram", "huge", {{f32, {50}, -3e38, 3e38}}, {}, histogram},
      {"Histogram", "integers", {{i64, {200}, -9, 9}}, {}, histogram},
      {"Histogram", "bytes", {{DType::uint8, {200}, 0, 256}}, {}, histogram},
      {"Histogram", "of nothing", {{f32, {0}}}, {}, histogram},
  };
}

}  // namespace

std::vector<OpRow> model_rows() {
  Rows all;
  for (const auto family : {gather_rows, scatter_rows, embedding_rows, normalisation_rows, batch_rows,
                            activation_rows, summary_rows, attention_rows})
    for (auto& row : family()) all.push_back(std::move(row));
  return all;
}

}  // namespace actorflow::test
