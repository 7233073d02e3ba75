// The loops of pooling on a CPU: windows over images [batch, rows, columns, channels], with the
// channels, which are next to each other in memory, as lanes of vectors. Padding is in no window.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/images/sliding_window.h"
#include "kernels/loops/vectorised.h"

namespace actorflow {

struct PoolShape {
  std::int64_t batch = 0, channels = 0;
  SlidingAxis rows, columns;

  Shape images() const { return {batch, rows.input, columns.input, channels}; }
  Shape outputs() const { return {batch, rows.output, columns.output, channels}; }
  std::int64_t image_elements() const { return rows.input * columns.input * channels; }
  std::int64_t output_elements() const { return rows.output * columns.output * channels; }
  // True if no element of an image lies in two windows.
  bool apart() const { return rows.apart() && columns.apart(); }
};

// A window without its padding: elements [first_row, last_row) x [first_column, last_column) of an
// image.
struct PoolWindow {
  std::int64_t first_row, last_row, first_column, last_column;

  ACTORFLOW_HOST_DEVICE PoolWindow(const PoolShape& s, std::int64_t row, std::int64_t column)
      : first_row(s.rows.begin(row) + s.rows.first(row)),
        last_row(s.rows.begin(row) + s.rows.last(row)),
        first_column(s.columns.begin(column) + s.columns.first(column)),
        last_column(s.columns.begin(column) + s.columns.last(column)) {}

  ACTORFLOW_HOST_DEVICE std::int64_t elements() const {
    return (last_row - first_row) * (last_column - first_column);
  }
};

// The number of channels that are computed at a time, in registers.
inline constexpr std::int64_t pool_lanes = 16;

// Calls body(window, image, output, lanes) for each window and each group of its channels: `image` and
// `output` are the offsets of the group's first channel at the image's and the window's first element;
// `lanes` is pool_lanes as a constant where that fits, else a number below it.
template <class Body>
inline void for_each_pool_group(const PoolShape& s, const Body& body) {
  const std::int64_t whole = s.channels / pool_lanes * pool_lanes;
  std::int64_t output = 0;
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t row = 0; row < s.rows.output; ++row)
      for (std::int64_t column = 0; column < s.columns.output; ++column, output += s.channels) {
        const PoolWindow window(s, row, column);
        const std::int64_t image = n * s.image_elements();
        for (std::int64_t c = 0; c < whole; c += pool_lanes)
          body(window, image + c, output + c, std::integral_constant<std::int64_t, pool_lanes>());
        if (whole < s.channels) body(window, image + whole, output + whole, s.channels - whole);
      }
}

// Calls body(offset) for each element of a window, row by row.
template <class Body>
inline void for_each_pooled(const PoolShape& s, const PoolWindow& w, std::int64_t image,
                            const Body& body) {
  for (std::int64_t row = w.first_row; row < w.last_row; ++row)
    for (std::int64_t column = w.first_column; column < w.last_column; ++column)
      body(image + (row * s.columns.input + column) * s.channels);
}

// The maximum of each window; NaN if an element is.
template <class T>
void max_pool_on_cpu(const PoolShape& s, const T* x, T* y) {
  vectorised([=] {
    for_each_pool_group(s, [&](const PoolWindow& w, std::int64_t image, std::int64_t out, auto lanes) {
      T best[pool_lanes];
      for (std::int64_t j = 0; j < lanes; ++j) best[j] = -std::numeric_limits<T>::infinity();
      for_each_pooled(s, w, image, [&](std::int64_t at) {
        T next[pool_lanes];  // otherwise the compiler makes branches of it
        for (std::int64_t j = 0; j < lanes; ++j) {
          const T value = x[at + j];
          const int larger = int{value > best[j]} | int{value != value};
          next[j] = larger != 0 ? value : best[j];
        }
        std::copy_n(next, static_cast<std::int64_t>(lanes), best);
      });
      std::copy_n(best, static_cast<std::int64_t>(lanes), y + out);
    });
  });
}

// Gives a window's gradient to the first element that is its maximum, or to the first NaN. With `apart`
// each element of a window is written once, after that of x has been read, so dx may be x. Otherwise dx
// must be 0 before.
template <bool apart, class T>
void max_pool_grad_on_cpu(const PoolShape& s, const T* x, const T* y, const T* g, T* dx) {
  vectorised([=] {
    for_each_pool_group(s, [&](const PoolWindow& w, std::int64_t image, std::int64_t out, auto lanes) {
      int open[pool_lanes];
      for (std::int64_t j = 0; j < lanes; ++j) open[j] = 1;
      for_each_pooled(s, w, image, [&](std::int64_t at) {
        T passed[pool_lanes];
        for (std::int64_t j = 0; j < lanes; ++j) {
          const T value = x[at + j];
          const int hit = open[j] & (int{value == y[out + j]} | int{value != value});
          passed[j] = hit != 0 ? g[out + j] : T(0);
          open[j] &= ~hit;
        }
        for (std::int64_t j = 0; j < lanes; ++j) dx[at + j] = apart ? passed[j] : dx[at + j] + passed[j];
      });
    });
  });
}

// Sets to 0 what is in no window.
template <class T>
void clear_between_windows(const PoolShape& s, T* dx) {
  const std::int64_t row_elements = s.columns.input * s.channels;
  for (std::int64_t row = 0; row < s.batch * s.rows.input; ++row, dx += row_elements) {
    if (s.rows.in_no_window(row % s.rows.input)) {
      std::fill_n(dx, row_elements, T(0));
      continue;
    }
    for (std::int64_t column = 0; column < s.columns.input; ++column)
      if (s.columns.in_no_window(column)) std::fill_n(dx + column * s.channels, s.channels, T(0));
  }
}

template <class T>
void avg_pool_on_cpu(const PoolShape& s, const T* x, T* y) {
  vectorised([=] {
    for_each_pool_group(s, [&](const PoolWindow& w, std::int64_t image, std::int64_t out, auto lanes) {
      double sum[pool_lanes];
      for (std::int64_t j = 0; j < lanes; ++j) sum[j] = 0;
      for_each_pooled(s, w, image, [&](std::int64_t at) {
        for (std::int64_t j = 0; j < lanes; ++j) sum[j] += static_cast<double>(x[at + j]);
      });
      const auto count = static_cast<double>(w.elements());
      for (std::int64_t j = 0; j < lanes; ++j) y[out + j] = static_cast<T>(sum[j] / count);
    });
  });
}

// Adds the gradients to dx, which must be 0 before.
template <class T>
void avg_pool_grad_on_cpu(const PoolShape& s, const T* g, T* dx) {
  vectorised([=] {
    for_each_pool_group(s, [&](const PoolWindow& w, std::int64_t image, std::int64_t out, auto lanes) {
      T share[pool_lanes];
      const auto count = static_cast<T>(w.elements());
      for (std::int64_t j = 0; j < lanes; ++j) share[j] = g[out + j] / count;
      for_each_pooled(s, w, image, [&](std::int64_t at) {
        for (std::int64_t j = 0; j < lanes; ++j) dx[at + j] += share[j];
      });
    });
  });
}

}  // namespace actorflow
