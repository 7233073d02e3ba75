// Batch normalisation on the GPU. For .cu files in a build with CUDA.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/images/batch_norm.h"
#include "kernels/loops/fold_columns.h"
#include "kernels/loops/launch_elements.h"

namespace actorflow {

// The sums of x - first row and of its square: little precision is lost if the mean is large beside the
// deviation.
template <class T>
struct MomentsTerm {
  const T* x;
  __device__ TwoSumsFold::Accumulator operator()(MatrixPlace at) const {
    const double apart = static_cast<double>(x[at.index]) - static_cast<double>(x[at.column]);
    return {apart, apart * apart};
  }
};

// The sums of the gradient and of its product with x - mean.
template <class T, ReluMask mask>
struct GradientTerm {
  PassedGradient<T, mask> passed;
  __device__ TwoSumsFold::Accumulator operator()(MatrixPlace at) const {
    const T g = passed(at.index, at.column);
    const T apart = passed.x[at.index] - passed.columns.mean[at.column];
    return {static_cast<double>(g), static_cast<double>(g * apart)};
  }
};

// Sets to[i] = value(i, column) for all elements.
template <class T, class Value>
void write_elements(Device& device, Rows size, const Value& value, T* to) {
  launch_elements(device, size, [=] __device__(std::int64_t i, std::int64_t j) { to[i] = value(i, j); });
}

template <class T>
void forward_on_cuda(Device& device, const ForwardTask<T>& t) {
  const std::int64_t columns = t.size.columns;
  const auto count = static_cast<double>(std::max<std::int64_t>(t.size.rows, 1));
  const DeviceScratch<TwoSumsFold::Accumulator> sums(device, columns);
  const DeviceScratch<T> factors(device, columns);
  const auto* moments = sums.data();
  T* factor = factors.data();
  fold_columns<TwoSumsFold>(device, t.size, MomentsTerm<T>{t.x}, sums.data());
  launch(device, columns, [=, empty = t.size.rows == 0] __device__(std::int64_t j) {
    const double from_first = moments[j].first / count;
    const double squares = moments[j].second - moments[j].first * from_first;
    t.mean[j] = empty ? T(0) : static_cast<T>(static_cast<double>(t.x[j]) + from_first);
    t.variance[j] = static_cast<T>(unbiased(squares, count));
    t.inverse_stddev[j] = static_cast<T>(1 / std::sqrt(squares / count + t.epsilon));
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
  const DeviceScratch<TwoSumsFold::Accumulator> sums(device, columns);
  const DeviceScratch<T> coefficients(device, 2 * columns);
  const auto* of = sums.data();
  T *shift = coefficients.data(), *slope = shift + columns;
  fold_columns<TwoSumsFold>(device, t.size, GradientTerm<T, mask>{passed}, sums.data());
  launch(device, columns, [=] __device__(std::int64_t j) {
    const double inverse = static_cast<double>(t.inverse_stddev[j]);
    t.dscale[j] = static_cast<T>(of[j].second * inverse);
    t.doffset[j] = static_cast<T>(of[j].first);
    shift[j] = static_cast<T>(of[j].first / count);
    slope[j] = static_cast<T>(of[j].second * inverse * inverse / count);
  });
  write_elements(device, t.size, InputGradient<T, mask>{passed, shift, slope}, t.dx);
}

template <class T>
void backward_on_cuda(Device& device, const BackwardTask<T>& t) {
  const DeviceScratch<T> factors(device, t.size.columns);
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
