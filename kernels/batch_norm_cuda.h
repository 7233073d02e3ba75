// Batch normalisation on the GPU. For .cu files in a build with CUDA.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/batch_norm.h"
#include "kernels/column_sums.h"

namespace actorflow {

template <class T>
struct ValueTerm {
  const T* x;
  __device__ double operator()(std::int64_t i, std::int64_t) const { return static_cast<double>(x[i]); }
};

template <class T>
struct SquareTerm {
  const T* x;
  const double* mean;
  __device__ double operator()(std::int64_t i, std::int64_t column) const {
    const double apart = static_cast<double>(x[i]) - mean[column];
    return apart * apart;
  }
};

template <class T, ReluMask mask>
struct GradientTerm {
  PassedGradient<T, mask> passed;
  __device__ double operator()(std::int64_t i, std::int64_t column) const {
    return static_cast<double>(passed(i, column));
  }
};

template <class T, ReluMask mask>
struct ProductTerm {
  PassedGradient<T, mask> passed;
  __device__ double operator()(std::int64_t i, std::int64_t column) const {
    return static_cast<double>(passed(i, column) * (passed.x[i] - passed.columns.mean[column]));
  }
};

// to[i] = value(i, column).
template <class T, class Value>
void write_elements(Device& device, Rows size, const Value& value, T* to) {
  const std::int64_t columns = size.columns;
  launch(device, size.rows * columns, [=] __device__(std::int64_t i) { to[i] = value(i, i % columns); });
}

// Device memory for the duration of a kernel's launches.
template <class T>
class ColumnScratch {
 public:
  ColumnScratch(Device& device, std::int64_t columns)
      : buffer_(device.allocator().allocate(static_cast<std::size_t>(columns) * sizeof(T))) {}
  T* data() const { return static_cast<T*>(buffer_->data()); }

 private:
  BufferRef buffer_;
};

template <class T>
void forward_on_cuda(Device& device, const ForwardTask<T>& t) {
  const std::int64_t columns = t.size.columns;
  const auto count = static_cast<double>(std::max<std::int64_t>(t.size.rows, 1));
  const ColumnScratch<double> means(device, columns), squares(device, columns);
  const ColumnScratch<T> factors(device, columns);
  double *mean = means.data(), *square = squares.data();
  T* factor = factors.data();
  column_sums(device, t.size, ValueTerm<T>{t.x}, mean);
  launch(device, columns, [=] __device__(std::int64_t j) { mean[j] /= count; });
  column_sums(device, t.size, SquareTerm<T>{t.x, mean}, square);
  launch(device, columns, [=] __device__(std::int64_t j) {
    t.mean[j] = static_cast<T>(mean[j]);
    t.variance[j] = static_cast<T>(unbiased(square[j], count));
    t.inverse_stddev[j] = static_cast<T>(1 / std::sqrt(square[j] / count + t.epsilon));
    factor[j] = t.scale[j] * t.inverse_stddev[j];
  });
  const auto write = [&](const auto& value) { write_elements(device, t.size, value, t.y); };
  const BatchNormColumns<T> coefficients{t.mean, factor, t.offset};
  if (t.relu && t.side)
    write(Normalised<T, true, true>{t.x, t.side, coefficients});
  else if (t.relu)
    write(Normalised<T, true, false>{t.x, nullptr, coefficients});
  else if (t.side)
    write(Normalised<T, false, true>{t.x, t.side, coefficients});
  else
    write(Normalised<T, false, false>{t.x, nullptr, coefficients});
}

// Sums and gradients for one way to know the relu's derivative.
template <class T, ReluMask mask>
void backward_on_cuda(Device& device, const BackwardTask<T>& t, const PassedGradient<T, mask>& passed) {
  const std::int64_t columns = t.size.columns;
  const auto count = static_cast<double>(std::max<std::int64_t>(t.size.rows, 1));
  const ColumnScratch<double> sums(device, 2 * columns);
  const ColumnScratch<T> coefficients(device, 2 * columns);
  double *of_g = sums.data(), *of_g_x = of_g + columns;
  T *shift = coefficients.data(), *slope = shift + columns;
  column_sums(device, t.size, GradientTerm<T, mask>{passed}, of_g);
  column_sums(device, t.size, ProductTerm<T, mask>{passed}, of_g_x);
  launch(device, columns, [=] __device__(std::int64_t j) {
    const double inverse = static_cast<double>(t.inverse_stddev[j]);
    t.dscale[j] = static_cast<T>(of_g_x[j] * inverse);
    t.doffset[j] = static_cast<T>(of_g[j]);
    shift[j] = static_cast<T>(of_g[j] / count);
    slope[j] = static_cast<T>(of_g_x[j] * inverse * inverse / count);
  });
  write_elements(device, t.size, InputGradient<T, mask>{passed, shift, slope}, t.dx);
}

template <class T>
void backward_on_cuda(Device& device, const BackwardTask<T>& t) {
  const ColumnScratch<T> factors(device, t.size.columns);
  T* factor = factors.data();
  launch(device, t.size.columns,
         [=] __device__(std::int64_t j) { factor[j] = t.scale[j] * t.inverse_stddev[j]; });
  const BatchNormColumns<T> columns{t.mean, factor, t.offset};
  if (t.mask == ReluMask::none)
    return backward_on_cuda(device, t, PassedGradient<T, ReluMask::none>{t.g, t.x, nullptr, columns});
  if (t.mask == ReluMask::recomputed)
    return backward_on_cuda(device, t,
                            PassedGradient<T, ReluMask::recomputed>{t.g, t.x, nullptr, columns});
  write_elements(device, t.size, PassedGradient<T, ReluMask::from_output>{t.g, t.x, t.y, columns},
                 t.dside);
  backward_on_cuda(device, t, PassedGradient<T, ReluMask::none>{t.dside, t.x, nullptr, columns});
}

}  // namespace actorflow
