// Batch normalisation on a CPU: loops over rows that are as wide as vectors are long.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/core/kernel.h"
#include "kernels/images/batch_norm.h"
#include "kernels/loops/vectorised.h"

namespace actorflow {

// A matrix with few columns, seen as one with wide rows: several rows side by side, up to `group` lanes.
// Lane l holds column l % columns. Elements that do not fill a wide row are the rest.
class WideRows {
 public:
  static constexpr std::int64_t group = 64;  // lanes whose sums are in registers

  explicit WideRows(Rows size)
      : size_(size),
        copies_(std::clamp<std::int64_t>(group / std::max<std::int64_t>(size.columns, 1), 1,
                                         std::max<std::int64_t>(size.rows, 1))) {}

  Rows size() const { return size_; }
  std::int64_t lanes() const { return size_.columns * copies_; }
  std::int64_t copies() const { return copies_; }
  std::int64_t rows() const { return size_.rows / copies_; }
  std::int64_t rest_begin() const { return rows() * lanes(); }
  std::int64_t elements() const { return size_.rows * size_.columns; }
  // The number of wide rows that fit into the first-level cache and whose float32 sum is precise.
  std::int64_t block() const {
    return std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(lanes(), 1));
  }
  // The parts for the threads of a team: part i has the wide rows from first_row(i) to first_row(i + 1).
  Shares shares() const {
    constexpr std::int64_t worth_a_thread = 1 << 16;
    return Shares(rows(), elements() / worth_a_thread, 4);
  }
  int parts() const { return shares().count(); }
  std::int64_t first_row(int part) const { return shares().begin(part); }
  // The first element of a part; the last part includes the rest.
  std::int64_t first_element(int part) const {
    return part == parts() ? elements() : first_row(part) * lanes();
  }

  // The values of the columns, repeated for each lane.
  template <class T>
  std::vector<T> repeat(const T* columns) const {
    std::vector<T> values;
    for (std::int64_t i = 0; i < copies_; ++i)
      values.insert(values.end(), columns, columns + size_.columns);
    return values;
  }

 private:
  Rows size_;
  std::int64_t copies_;
};

// sums[lane] = the sum of term(i, lane) over the wide rows [first, last).
template <class T, class Term>
inline void sum_lanes(std::int64_t lanes, std::int64_t first, std::int64_t last, const Term& term,
                      double* sums) {
  const auto sum_group = [&](std::int64_t begin, auto count) {
    T total[WideRows::group] = {};
    for (std::int64_t row = first; row < last; ++row)
      for (std::int64_t j = 0; j < count; ++j) total[j] += term(row * lanes + begin + j, begin + j);
    for (std::int64_t j = 0; j < count; ++j) sums[begin + j] = static_cast<double>(total[j]);
  };
  std::int64_t begin = 0;
  for (; begin + WideRows::group <= lanes; begin += WideRows::group)
    sum_group(begin, std::integral_constant<std::int64_t, WideRows::group>());
  if (begin < lanes) sum_group(begin, lanes - begin);
}

// to[i] = value(i, lane) for the elements [first, last), of which the first is in lane 0. Element i of
// `to` may be what value(i, .) reads.
template <class T, class Value>
inline void write_lanes(std::int64_t lanes, std::int64_t first, std::int64_t last, const Value& value,
                        T* to) {
  for (std::int64_t row = first; row < last; row += lanes) {
    const std::int64_t count = std::min(lanes, last - row);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < count; ++j) to[row + j] = value(row + j, j);
  }
}

// Mean and sum of squared differences from it, of `count` values.
struct ColumnMoments {
  double count = 0, mean = 0, squares = 0;

  // Combines the moments of two sets of values (Chan, Golub and LeVeque 1979).
  void merge(const ColumnMoments& other) {
    if (other.count == 0) return;
    const double all = count + other.count, apart = other.mean - mean;
    mean += apart * other.count / all;
    squares += other.squares + apart * apart * count * other.count / all;
    count = all;
  }
};

// The moments of each lane of a part, in one pass over memory: block by block, about the mean of the
// blocks before.
template <class T>
std::vector<ColumnMoments> lane_moments(const WideRows& w, int part, const T* x) {
  const std::int64_t lanes = w.lanes(), begin = w.first_row(part), end = w.first_row(part + 1);
  const auto size = static_cast<std::size_t>(lanes);
  std::vector<ColumnMoments> of_lanes(size);
  std::vector<double> sums(size), squares(size);
  std::vector<T> center(size);
  for (std::int64_t first = begin; first < end; first += w.block()) {
    const std::int64_t last = std::min(end, first + w.block());
    const auto count = static_cast<double>(last - first);
    vectorised([=, sums = sums.data(), squares = squares.data(), center = center.data()] {
      if (first == begin) {
        sum_lanes<T>(
            lanes, first, last, [=](std::int64_t i, std::int64_t) { return x[i]; }, sums);
        for (std::int64_t j = 0; j < lanes; ++j) center[j] = static_cast<T>(sums[j] / count);
      }
      const auto apart = [=](std::int64_t i, std::int64_t j) { return x[i] - center[j]; };
      sum_lanes<T>(lanes, first, last, apart, sums);
      sum_lanes<T>(
          lanes, first, last, [=](auto i, auto j) { return apart(i, j) * apart(i, j); }, squares);
    });
    for (std::size_t j = 0; j < size; ++j) {
      const double off = sums[j] / count;
      of_lanes[j].merge({count, static_cast<double>(center[j]) + off, squares[j] - sums[j] * off});
      center[j] = static_cast<T>(of_lanes[j].mean);
    }
  }
  return of_lanes;
}

template <class T>
std::vector<ColumnMoments> column_moments(const OpContext& c, const WideRows& w, const T* x) {
  std::vector<std::vector<ColumnMoments>> of_parts(static_cast<std::size_t>(w.parts()));
  c.parallel(w.parts(),
             [&](int part) { of_parts[static_cast<std::size_t>(part)] = lane_moments(w, part, x); });
  std::vector<ColumnMoments> result(static_cast<std::size_t>(w.size().columns));
  for (const auto& lanes : of_parts)
    for (std::size_t j = 0; j < lanes.size(); ++j) result[j % result.size()].merge(lanes[j]);
  for (std::int64_t i = w.rest_begin(); i < w.elements(); ++i)
    result[static_cast<std::size_t>(i - w.rest_begin()) % result.size()].merge(
        {1, static_cast<double>(x[i]), 0});
  return result;
}

// For each column the sums of g and of g (x - mean).
struct GradientSums {
  explicit GradientSums(std::int64_t columns)
      : of_g(static_cast<std::size_t>(columns)), of_g_x(of_g.size()) {}

  void add(std::size_t lane, double g, double g_x) {
    of_g[lane % of_g.size()] += g;
    of_g_x[lane % of_g.size()] += g_x;
  }
  void add(const GradientSums& other) {
    for (std::size_t j = 0; j < of_g.size(); ++j) add(j, other.of_g[j], other.of_g_x[j]);
  }

  std::vector<double> of_g, of_g_x;
};

// The sums over the wide rows of a part. Writes g to `passed_gradient` unless that is null.
template <class T, ReluMask mask>
GradientSums part_sums(const WideRows& w, int part, const PassedGradient<T, mask>& passed,
                       T* passed_gradient) {
  const std::int64_t lanes = w.lanes(), end = w.first_row(part + 1);
  GradientSums sums(w.size().columns);
  std::vector<double> g(static_cast<std::size_t>(lanes)), g_x(g.size());
  for (std::int64_t first = w.first_row(part); first < end; first += w.block()) {
    const std::int64_t last = std::min(end, first + w.block());
    vectorised([=, g = g.data(), g_x = g_x.data()] {
      if (passed_gradient) write_lanes(lanes, first * lanes, last * lanes, passed, passed_gradient);
      sum_lanes<T>(lanes, first, last, passed, g);
      sum_lanes<T>(
          lanes, first, last,
          [=](std::int64_t i, std::int64_t j) {
            return passed(i, j) * (passed.x[i] - passed.columns.mean[j]);
          },
          g_x);
    });
    for (std::size_t j = 0; j < g.size(); ++j) sums.add(j, g[j], g_x[j]);
  }
  return sums;
}

template <class T, ReluMask mask>
GradientSums sum_gradients(const OpContext& c, const WideRows& w, const PassedGradient<T, mask>& passed,
                           T* passed_gradient) {
  std::vector<GradientSums> parts(static_cast<std::size_t>(w.parts()), GradientSums(w.size().columns));
  c.parallel(w.parts(), [&](int part) {
    parts[static_cast<std::size_t>(part)] = part_sums(w, part, passed, passed_gradient);
  });
  GradientSums sums(w.size().columns);
  for (const auto& part : parts) sums.add(part);
  for (std::int64_t i = w.rest_begin(); i < w.elements(); ++i) {
    const std::int64_t j = i - w.rest_begin();
    const T value = passed(i, j);
    if (passed_gradient) passed_gradient[i] = value;
    sums.add(static_cast<std::size_t>(j), static_cast<double>(value),
             static_cast<double>(value * (passed.x[i] - passed.columns.mean[j])));
  }
  return sums;
}

// to[i] = value(i, lane) for all elements.
template <class T, class Value>
void write_all(const OpContext& c, const WideRows& w, const Value& value, T* to) {
  c.parallel(w.parts(), [&](int part) {
    vectorised([=, lanes = w.lanes(), first = w.first_element(part), last = w.first_element(part + 1)] {
      write_lanes(lanes, first, last, value, to);
    });
  });
}

template <class T>
void forward_on_cpu(const OpContext& c, const ForwardTask<T>& t) {
  const WideRows w(t.size);
  const auto moments = column_moments(c, w, t.x);
  std::vector<T> factor(moments.size());
  for (std::size_t j = 0; j < moments.size(); ++j) {
    const double biased = moments[j].squares / std::max(moments[j].count, 1.0);
    t.mean[j] = static_cast<T>(moments[j].mean);
    t.variance[j] = static_cast<T>(unbiased(moments[j].squares, moments[j].count));
    t.inverse_stddev[j] = static_cast<T>(1 / std::sqrt(biased + t.epsilon));
    factor[j] = t.scale[j] * t.inverse_stddev[j];
  }
  const auto means = w.repeat(t.mean), factors = w.repeat(factor.data()), offsets = w.repeat(t.offset);
  with_flags(t.relu, t.side != nullptr, [&](auto relu, auto side) {
    const Normalised<T, relu, side> value{t.x, t.side, {means.data(), factors.data(), offsets.data()}};
    write_all(c, w, value, t.y);
  });
}

// Sums and gradients for one way to know the relu's derivative.
template <class T, ReluMask mask>
void backward_on_cpu(const OpContext& c, const BackwardTask<T>& t, const WideRows& w,
                     const PassedGradient<T, mask>& passed) {
  const auto columns = static_cast<std::size_t>(t.size.columns);
  const auto count = static_cast<double>(std::max<std::int64_t>(t.size.rows, 1));
  const auto [of_g, of_g_x] = sum_gradients(c, w, passed, t.dside);
  std::vector<T> shift(columns), slope(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    const auto inverse = static_cast<double>(t.inverse_stddev[j]);
    t.dscale[j] = static_cast<T>(of_g_x[j] * inverse);
    t.doffset[j] = static_cast<T>(of_g[j]);
    shift[j] = static_cast<T>(of_g[j] / count);
    slope[j] = static_cast<T>(of_g_x[j] * inverse * inverse / count);
  }
  const auto shifts = w.repeat(shift.data()), slopes = w.repeat(slope.data());
  const auto write = [&]<ReluMask own>(const PassedGradient<T, own>& passed_gradient) {
    const InputGradient<T, own> value{passed_gradient, shifts.data(), slopes.data()};
    write_all(c, w, value, t.dx);
  };
  if constexpr (mask == ReluMask::from_output)  // g has been written, so y is not needed
    write(PassedGradient<T, ReluMask::none>{t.dside, t.x, nullptr, passed.columns});
  else
    write(passed);
}

template <class T>
void backward_on_cpu(const OpContext& c, const BackwardTask<T>& t) {
  const WideRows w(t.size);
  std::vector<T> factor(static_cast<std::size_t>(t.size.columns));
  for (std::size_t j = 0; j < factor.size(); ++j) factor[j] = t.scale[j] * t.inverse_stddev[j];
  const auto means = w.repeat(t.mean), factors = w.repeat(factor.data()), offsets = w.repeat(t.offset);
  with_mask(t.mask, [&](auto mask) {
    backward_on_cpu(
        c, t, w, PassedGradient<T, mask>{t.g, t.x, t.y, {means.data(), factors.data(), offsets.data()}});
  });
}

}  // namespace actorflow
