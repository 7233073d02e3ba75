// Batch normalisation on the GPU. For .cu files in a build with CUDA.
//
// The formulas of batch_norm.h run on packs: what they read is loaded into arrays of n elements, which
// the compiler keeps in registers, and element and column are then both the place in the pack.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/images/batch_norm.h"
#include "kernels/loops/sum_packs.h"

namespace actorflow {

// The coefficients of n neighbouring columns.
template <class T, int n>
struct ColumnPack {
  Pack<T, n> mean, factor, offset;
  __device__ BatchNormColumns<T> view() const { return {mean.values, factor.values, offset.values}; }
};

template <class T>
struct ColumnMemory {
  const T *mean, *scale, *inverse_stddev, *offset;

  bool in_fours(std::int64_t columns) const {
    return actorflow::in_fours(columns, mean, scale, inverse_stddev, offset);
  }
  template <int n>
  __device__ ColumnPack<T, n> load(std::int64_t column) const {
    Pack<T, n> factor = load_pack<n>(scale + column);
    const Pack<T, n> inverse = load_pack<n>(inverse_stddev + column);
#pragma unroll
    for (int k = 0; k < n; ++k) factor.values[k] *= inverse.values[k];
    return {load_pack<n>(mean + column), factor, load_pack<n>(offset + column)};
  }
};

// The sums of x - first row and of its square: little precision is lost if the mean is large beside the
// deviation.
template <class T>
struct MomentsTerm {
  const T* x;
  std::int64_t rows;  // without any there is no first one

  template <int n>
  struct Columns {
    const T* x;
    Pack<T, n> first_row;

    __device__ Pack<T, n> load(std::int64_t i) const { return load_pack<n>(x + i); }
    __device__ void add(std::int64_t, const Pack<T, n>& row, TwoSums<T>* sums) const {
#pragma unroll
      for (int k = 0; k < n; ++k) {
        const T apart = row.values[k] - first_row.values[k];
        sums[k].first += apart;
        sums[k].second += apart * apart;
      }
    }
  };

  template <int n>
  __device__ Columns<n> columns(std::int64_t column) const {
    return {x, rows > 0 ? load_pack<n>(x + column) : Pack<T, n>{}};
  }
};

// The gradient of y at n neighbouring elements, where the relu passed it.
template <class T, ReluMask mask, int n>
struct GradientPack {
  Pack<T, n> g, x, y;

  __device__ GradientPack() = default;
  __device__ GradientPack(const BackwardTask<T>& t, std::int64_t i)
      : g(load_pack<n>(t.g + i)), x(load_pack<n>(t.x + i)) {
    if constexpr (mask == ReluMask::from_output) y = load_pack<n>(t.y + i);
  }
  __device__ PassedGradient<T, mask> view(const ColumnPack<T, n>& columns) const {
    return {g.values, x.values, y.values, columns.view()};
  }
};

// The sums of the gradient and of its product with x - mean. Stores the side input's gradient, if there
// is one, on the way.
template <class T, ReluMask mask>
struct GradientTerm {
  BackwardTask<T> task;
  ColumnMemory<T> memory;

  template <int n>
  struct Columns {
    BackwardTask<T> task;
    ColumnPack<T, n> pack;

    __device__ GradientPack<T, mask, n> load(std::int64_t i) const { return {task, i}; }
    __device__ void add(std::int64_t i, const GradientPack<T, mask, n>& row, TwoSums<T>* sums) const {
      const auto passed = row.view(pack);
      Pack<T, n> gradient;
#pragma unroll
      for (int k = 0; k < n; ++k) {
        const T g = gradient.values[k] = passed(k, k);
        sums[k].first += g;
        sums[k].second += g * (row.x.values[k] - pack.mean.values[k]);
      }
      if constexpr (mask == ReluMask::from_output) store_pack(task.dside + i, gradient);
    }
  };

  template <int n>
  __device__ Columns<n> columns(std::int64_t column) const {
    return {task, memory.template load<n>(column)};
  }
};

template <class T, bool relu, bool has_side>
struct NormalisePacks {
  ForwardTask<T> task;
  ColumnMemory<T> memory;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t column) const {
    const ColumnPack<T, n> columns = memory.template load<n>(column);
    const Pack<T, n> x = load_pack<n>(task.x + i);
    Pack<T, n> side, y;
    if constexpr (has_side) side = load_pack<n>(task.side + i);
    const Normalised<T, relu, has_side> value{x.values, side.values, columns.view()};
#pragma unroll
    for (int k = 0; k < n; ++k) y.values[k] = value(k, k);
    store_pack(task.y + i, y);
  }
};

template <class T, ReluMask mask>
struct InputGradientPacks {
  BackwardTask<T> task;
  ColumnMemory<T> memory;
  const T *shift, *slope;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t column) const {
    const ColumnPack<T, n> columns = memory.template load<n>(column);
    const GradientPack<T, mask, n> row(task, i);
    const Pack<T, n> shifts = load_pack<n>(shift + column), slopes = load_pack<n>(slope + column);
    Pack<T, n> dx;
    const InputGradient<T, mask> value{row.view(columns), shifts.values, slopes.values};
#pragma unroll
    for (int k = 0; k < n; ++k) dx.values[k] = value(k, k);
    store_pack(task.dx + i, dx);
  }
};

template <class T>
void forward_on_cuda(Device& device, const ForwardTask<T>& t) {
  const std::int64_t columns = t.size.columns;
  const ColumnMemory<T> memory{t.mean, t.scale, t.inverse_stddev, t.offset};
  const bool empty = t.size.rows == 0;
  const bool fours = in_fours(columns, t.x, t.side, t.y) && memory.in_fours(columns);
  const auto count = static_cast<double>(std::max<std::int64_t>(t.size.rows, 1));
  sum_columns_twice<T>(
      device, t.size, fours, MomentsTerm<T>{t.x, t.size.rows},
      [=] __device__(std::int64_t j, const TwoSums<double>& moments) {
        const double from_first = moments.first / count;
        const double squares = moments.second - moments.first * from_first;
        t.mean[j] = empty ? T(0) : static_cast<T>(static_cast<double>(t.x[j]) + from_first);
        t.variance[j] = static_cast<T>(unbiased(squares, count));
        t.inverse_stddev[j] = static_cast<T>(1 / std::sqrt(squares / count + t.epsilon));
      });
  const auto write = [&](const auto& body) { launch_packs(device, t.size, fours, body); };
  if (t.relu && t.side)
    write(NormalisePacks<T, true, true>{t, memory});
  else if (t.relu)
    write(NormalisePacks<T, true, false>{t, memory});
  else if (t.side)
    write(NormalisePacks<T, false, true>{t, memory});
  else
    write(NormalisePacks<T, false, false>{t, memory});
}

// Sums and gradients for one way to know the relu's derivative. The second pass reads the side input's
// gradient, if there is one, which is masked already.
template <class T, ReluMask mask>
void backward_on_cuda(Device& device, const BackwardTask<T>& t) {
  const std::int64_t columns = t.size.columns;
  const ColumnMemory<T> memory{t.mean, t.scale, t.inverse_stddev, t.offset};
  const bool fours = in_fours(columns, t.g, t.x, t.y, t.dx, t.dside) && memory.in_fours(columns);
  const auto count = static_cast<double>(std::max<std::int64_t>(t.size.rows, 1));
  const DeviceScratch<T> coefficients(device, 2 * columns);
  T *shift = coefficients.data(), *slope = shift + columns;
  sum_columns_twice<T>(device, t.size, fours, GradientTerm<T, mask>{t, memory},
                       [=] __device__(std::int64_t j, const TwoSums<double>& sums) {
                         const double inverse = static_cast<double>(t.inverse_stddev[j]);
                         t.dscale[j] = static_cast<T>(sums.second * inverse);
                         t.doffset[j] = static_cast<T>(sums.first);
                         shift[j] = static_cast<T>(sums.first / count);
                         slope[j] = static_cast<T>(sums.second * inverse * inverse / count);
                       });
  constexpr bool stored = mask == ReluMask::from_output;
  BackwardTask<T> rest = t;
  if (stored) rest.g = t.dside;
  launch_packs(device, t.size, fours, InputGradientPacks < T,
               stored ? ReluMask::none : mask > {rest, memory, shift, slope});
}

template <class T>
void backward_on_cuda(Device& device, const BackwardTask<T>& t) {
  with_mask(t.mask, [&](auto mask) { backward_on_cuda<T, mask()>(device, t); });
}

}  // namespace actorflow
