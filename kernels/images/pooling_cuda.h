// Pooling on the GPU. For .cu files in a build with CUDA.
//
// A thread computes n neighbouring channels of the result, and gathers what it needs: no two threads add
// to one place, so the sums have one order.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/core/kernel.h"
#include "kernels/images/pooling.h"
#include "kernels/loops/packs.h"

namespace actorflow {

struct ImagePlace {
  std::int64_t image, row, column, channel;
};

template <class Index>
__device__ ImagePlace divided(Index i, Index rows, Index columns, Index channels) {
  const Index pixel = i / channels, line = pixel / columns;
  return {line / rows, line % rows, pixel % columns, i % channels};
}

__device__ inline ImagePlace place_in(std::int64_t i, std::int64_t rows, std::int64_t columns,
                                      std::int64_t channels) {
  using Short = std::uint32_t;  // dividing these takes a fraction of the time
  if ((i | (rows * columns * channels)) > 0xffff'ffff) return divided(i, rows, columns, channels);
  return divided(static_cast<Short>(i), static_cast<Short>(rows), static_cast<Short>(columns),
                 static_cast<Short>(channels));
}

// Where an element of the images is, in the image and channel of `at`.
__device__ inline std::int64_t flat_input(const PoolShape& s, const ImagePlace& at, std::int64_t row,
                                          std::int64_t column) {
  return ((at.image * s.rows.input + row) * s.columns.input + column) * s.channels + at.channel;
}
// Where the result of a window is.
__device__ inline std::int64_t flat_output(const PoolShape& s, const ImagePlace& at, std::int64_t row,
                                           std::int64_t column) {
  return ((at.image * s.rows.output + row) * s.columns.output + column) * s.channels + at.channel;
}

// Calls body(row, column, channels) for each place of a window, row by row.
template <int n, class T, class Body>
__device__ void for_each_in_window(const PoolShape& s, const PoolWindow& w, const ImagePlace& at,
                                   const T* x, const Body& body) {
  for (std::int64_t row = w.first_row; row < w.last_row; ++row)
    for (std::int64_t column = w.first_column; column < w.last_column; ++column)
      body(row, column, load_pack<n>(x + flat_input(s, at, row, column)));
}

// NaN if an element is.
template <class T>
struct MaximumOfWindow {
  T best = -std::numeric_limits<T>::infinity();

  __device__ void add(T value) {
    if (value > best || value != value) best = value;
  }
  __device__ T of(const PoolWindow&) const { return best; }
};

template <class T>
struct MeanOfWindow {
  double sum = 0;

  __device__ void add(T value) { sum += static_cast<double>(value); }
  __device__ T of(const PoolWindow& w) const {
    return static_cast<T>(sum / static_cast<double>(w.elements()));
  }
};

// y is what Fold<T> makes of the elements of each window.
template <template <class> class Fold, class T>
struct FoldOfWindow {
  PoolShape s;
  const T* x;
  T* y;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, s.rows.output, s.columns.output, s.channels);
    const PoolWindow w(s, at.row, at.column);
    Fold<T> folds[n];
    for_each_in_window<n>(s, w, at, x, [&](std::int64_t, std::int64_t, const Pack<T, n>& pack) {
#pragma unroll
      for (int k = 0; k < n; ++k) folds[k].add(pack.values[k]);
    });
    Pack<T, n> results;
#pragma unroll
    for (int k = 0; k < n; ++k) results.values[k] = folds[k].of(w);
    store_pack(y + i, results);
  }
};

// Calls body(window, index of its output) for each window over an element of the images.
template <class Body>
__device__ void for_each_window_over(const PoolShape& s, const ImagePlace& at, const Body& body) {
  const std::int64_t last_row = s.rows.last_place(at.row), last = s.columns.last_place(at.column);
  for (std::int64_t row = s.rows.first_place(at.row); row < last_row; ++row)
    for (std::int64_t column = s.columns.first_place(at.column); column < last; ++column)
      body(PoolWindow(s, row, column), flat_output(s, at, row, column));
}

// The first maximum of a window in each channel gets the window's gradient.
template <class T>
struct GradientOfMax {
  PoolShape s;
  const T *x, *y, *g;
  T* dx;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, s.rows.input, s.columns.input, s.channels);
    Pack<T, n> sums = {};
    for_each_window_over(s, at, [&](const PoolWindow& w, std::int64_t out) {
      const Pack<T, n> maximum = load_pack<n>(y + out), gradient = load_pack<n>(g + out);
      bool found[n] = {};
      for_each_in_window<n>(
          s, w, at, x, [&](std::int64_t row, std::int64_t column, const Pack<T, n>& pack) {
            const bool here = row == at.row && column == at.column;
#pragma unroll
            for (int k = 0; k < n; ++k) {
              const T value = pack.values[k];
              const bool first = !found[k] && (value == maximum.values[k] || value != value);
              if (first && here) sums.values[k] += gradient.values[k];
              found[k] |= first;
            }
          });
    });
    store_pack(dx + i, sums);
  }
};

// GradientOfMax where no windows overlap: images are divided into cells of a stride, and a window is in
// the cell that it begins with. A thread computes a whole cell, and reads everything once.
template <class T>
struct GradientOfMaxInCell {
  PoolShape s;
  std::int64_t rows, columns;  // of cells
  const T *x, *y, *g;
  T* dx;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, rows, columns, s.channels);
    const PoolWindow w(s, at.row, at.column);
    const bool has_window = at.row < s.rows.output && at.column < s.columns.output;
    Pack<T, n> maximum = {}, gradient = {};
    bool open[n];
    if (has_window) {
      const std::int64_t out = flat_output(s, at, at.row, at.column);
      maximum = load_pack<n>(y + out);
      gradient = load_pack<n>(g + out);
    }
#pragma unroll
    for (int k = 0; k < n; ++k) open[k] = has_window;
    for_each_in_cell(at, [&](std::int64_t row, std::int64_t column, std::int64_t place) {
      Pack<T, n> passed = {};
      if (has_window && row < w.last_row && column < w.last_column) {
        const Pack<T, n> pack = load_pack<n>(x + place);
#pragma unroll
        for (int k = 0; k < n; ++k) {
          const T value = pack.values[k];
          const bool hit = open[k] && (value == maximum.values[k] || value != value);
          if (hit) passed.values[k] = gradient.values[k];
          open[k] &= !hit;
        }
      }
      store_pack(dx + place, passed);
    });
  }

 private:
  template <class Body>
  __device__ void for_each_in_cell(const ImagePlace& at, const Body& body) const {
    const std::int64_t top = s.rows.begin(at.row), left = s.columns.begin(at.column);
    const std::int64_t bottom = ::min(top + s.rows.stride, s.rows.input);
    const std::int64_t right = ::min(left + s.columns.stride, s.columns.input);
    for (std::int64_t row = ::max(top, std::int64_t{0}); row < bottom; ++row)
      for (std::int64_t column = ::max(left, std::int64_t{0}); column < right; ++column)
        body(row, column, flat_input(s, at, row, column));
  }
};

template <class T>
struct GradientOfMean {
  PoolShape s;
  const T* g;
  T* dx;

  template <int n>
  __device__ void run(std::int64_t i, std::int64_t) const {
    const ImagePlace at = place_in(i, s.rows.input, s.columns.input, s.channels);
    Pack<T, n> sums = {};
    for_each_window_over(s, at, [&](const PoolWindow& w, std::int64_t out) {
      const Pack<T, n> gradient = load_pack<n>(g + out);
      const T elements = static_cast<T>(w.elements());
#pragma unroll
      for (int k = 0; k < n; ++k) sums.values[k] += gradient.values[k] / elements;
    });
    store_pack(dx + i, sums);
  }
};

// Runs a body over all elements of a tensor of images; the other pointers are what it reads.
template <class Body, class... Inputs>
void launch_pooling(const OpContext& c, const PoolShape& s, Tensor& images, const Body& body,
                    const Inputs*... inputs) {
  if (images.elements() == 0) return;
  launch_packs(c.device(), {images.elements() / s.channels, s.channels},
               in_fours(s.channels, images.data(), inputs...), body);
}

template <class T>
void max_pool_grad_on_cuda(const OpContext& c, const PoolShape& s, Tensor& gradient, const T* x,
                           const T* y, const T* g) {
  T* dx = static_cast<T*>(gradient.mutable_data());
  if (gradient.elements() == 0) return;
  if (!s.apart()) return launch_pooling(c, s, gradient, GradientOfMax<T>{s, x, y, g, dx}, x, y, g);
  const auto cells = [](const SlidingAxis& a) { return (a.input + a.before - 1) / a.stride + 1; };
  const std::int64_t rows = cells(s.rows), columns = cells(s.columns);
  launch_packs(c.device(), {s.batch * rows * columns, s.channels}, in_fours(s.channels, x, y, g, dx),
               GradientOfMaxInCell<T>{s, rows, columns, x, y, g, dx});
}

}  // namespace actorflow
