// exp, log, tanh and erfc of float32 and float64, for loops. They have no branches and calls, so the
// compiler vectorises them, and only operations that IEEE 754 rounds in one way, so every instruction
// set gives the same bits; neither is true of the C library. On a GPU they are CUDA's own.
//
// Both precisions are within 3 ulp of the true value (erfc: within 6 + 2 x^2 ulp, for x > 0). Special
// values are those of the C library: log(0) is -infinity, log(-1) is NaN, NaN stays NaN.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/devices/host_device.h"

namespace actorflow::elementary {

// The layout of a floating type, and the polynomials whose length depends on its precision.
// exp: (e^r - 1 - r) / r^2 for |r| <= log(2) / 2; float32 from Moshier's Cephes (expf.c), float64 is
// Taylor's. log: of Sun's fdlibm (e_log.c, e_logf.c). erfc: fitted with Chebyshev nodes, see erfc().
template <class T>
struct Format;

template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr Bits exponent_bias = 127;
  static constexpr float exp_lowest = -87.33654F, exp_highest = 88.72283F;  // beyond: 0 and infinity
  static constexpr float ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;
  static constexpr float exp_tail[] = {1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F,
                                       4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F};
  static constexpr float log_tail[] = {0.24279078841F, 0.28498786688F, 0.40000972152F, 0.66666662693F};
  static constexpr float erfc_exponent[] = {
      -0.1446996142F, 0.2635118058F,  -0.009172002035F, -0.294063681F, 0.1091324586F, 0.282289147F,
      -0.1578026256F, -0.3751685328F, 0.1893706248F,    1.345286519F,  -0.6717940772F};
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr Bits exponent_bias = 1023;
  static constexpr double exp_lowest = -708.39641853226408, exp_highest = 709.78271289338397;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double exp_tail[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                        1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                        1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
  static constexpr double log_tail[] = {1.479819860511658591e-01, 1.531383769920937332e-01,
                                        1.818357216161805012e-01, 2.222219843214978396e-01,
                                        2.857142874366239149e-01, 3.999999999940941908e-01,
                                        6.666666666666735130e-01};
  static constexpr double erfc_exponent[] = {
      0.146649639907597655,  -0.33354570123337907,   0.0834382947956727571,  0.473742090837072711,
      -0.526321406960328387, -0.125260527301098686,  0.651160969154389255,   -0.343541186223010355,
      -0.385009319566052467, 0.562466874988700598,   0.00428603627206494678, -0.494714321655465161,
      0.260079174580165952,  0.29246551871407007,    -0.356973881911017315,  -0.0959849474351850664,
      0.34492360185539244,   -0.0374391901946623728, -0.300264001496754492,  0.112571747601974677,
      0.282398033845347168,  -0.15796302986156324,   -0.375164881849522544,  0.189373227367616066,
      1.34528644795531367,   -0.671794084056692266};
};

// The coefficient of the highest power comes first. Horner's rule for even and odd powers separately, so
// that the two halves do not wait for each other.
template <class T, std::size_t count>
ACTORFLOW_HOST_DEVICE T polynomial(const T (&coefficients)[count], T x) {
  const T square = x * x;
  T a = coefficients[0], b = coefficients[1];
  for (std::size_t i = 2; i + 1 < count; i += 2) {
    a = a * square + coefficients[i];
    b = b * square + coefficients[i + 1];
  }
  return count % 2 == 0 ? a * x + b : (a * square + coefficients[count - 1]) + b * x;
}

// The number whose addition rounds a number of moderate size to an integer, which is then in the low
// bits.
template <class T>
inline constexpr T shifter = T(3) * T(typename Format<T>::Bits{1} << (Format<T>::mantissa_bits - 1));

// The n of n + shifter, moved to the bits of the exponent.
template <class T>
typename Format<T>::Bits exponent_bits(T shifted) {
  using Bits = typename Format<T>::Bits;
  return static_cast<Bits>(std::bit_cast<Bits>(shifted) << Format<T>::mantissa_bits);
}

// x = n log(2) + r, as n + shifter and e^r - 1.
template <class T>
struct Reduced {
  T shifted, expm1;
};

template <class T>
Reduced<T> reduce_exponent(T x) {
  using F = Format<T>;
  constexpr T log2_e = T(1.44269504088896340736);
  const T shifted = x * log2_e + shifter<T>, n = shifted - shifter<T>;
  const T r = (x - n * F::ln2_high) - n * F::ln2_low;
  return {shifted, polynomial(F::exp_tail, r) * (r * r) + r};
}

// Results below the least normal number are 0.
template <class T>
ACTORFLOW_HOST_DEVICE T exp(T x) {
#ifdef __CUDA_ARCH__
  return std::exp(x);
#else
  using F = Format<T>;
  const Reduced<T> reduced = reduce_exponent(x);
  const T result = std::bit_cast<T>(static_cast<typename F::Bits>(
      std::bit_cast<typename F::Bits>(reduced.expm1 + 1) + exponent_bits(reduced.shifted)));
  const T normal = x < F::exp_lowest ? T(0) : result;
  return x <= F::exp_highest ? normal : x + std::numeric_limits<T>::infinity();  // or NaN
#endif
}

// With u = e^(2|x|) - 1: |tanh(x)| = u / (u + 2), without loss near 0.
template <class T>
ACTORFLOW_HOST_DEVICE T tanh(T x) {
#ifdef __CUDA_ARCH__
  return std::tanh(x);
#else
  using Bits = typename Format<T>::Bits;
  constexpr T one_from_here = 40;
  T twice = std::fabs(x) * 2;
  twice = twice > one_from_here ? one_from_here : twice;
  const Reduced<T> reduced = reduce_exponent(twice);
  const T scale =
      std::bit_cast<T>(static_cast<Bits>(std::bit_cast<Bits>(T(1)) + exponent_bits(reduced.shifted)));
  const T u = reduced.expm1 * scale + (scale - 1);
  return std::copysign(u / (u + 2), x);
#endif
}

// x = m 2^e with m from sqrt(1/2) on; with f = m - 1 and s = f / (2 + f),
// log(m) = f - f^2/2 + s (f^2/2 + R(s^2)). Ng, FreeBSD's and Sun's fdlibm, e_log.c.
template <class T>
ACTORFLOW_HOST_DEVICE T log(T x) {
#ifdef __CUDA_ARCH__
  return std::log(x);
#else
  using F = Format<T>;
  using Bits = typename F::Bits;
  using Limits = std::numeric_limits<T>;
  constexpr T two_to_mantissa = T(Bits{1} << F::mantissa_bits);
  constexpr Bits sqrt_half = std::bit_cast<Bits>(T(0.70710678118654752440));
  const bool denormal = x < Limits::min();
  const Bits bits = std::bit_cast<Bits>(denormal ? x * two_to_mantissa : x);
  const Bits biased = (bits - sqrt_half + (F::exponent_bias << F::mantissa_bits)) >> F::mantissa_bits;
  const T m = std::bit_cast<T>(bits - ((biased - F::exponent_bias) << F::mantissa_bits));
  const T e = std::bit_cast<T>(biased + std::bit_cast<Bits>(two_to_mantissa)) -
              (two_to_mantissa + T(F::exponent_bias)) - (denormal ? T(F::mantissa_bits) : T(0));
  const T f = m - 1, s = f / (f + 2), z = s * s, half_square = f * f * T(0.5);
  const T tail = s * (half_square + z * polynomial(F::log_tail, z)) + e * F::ln2_low;
  const T result = e * F::ln2_high - ((half_square - tail) - f);
  const T not_positive = x == 0 ? -Limits::infinity() : Limits::quiet_NaN();
  return x > 0 ? (x == Limits::infinity() ? x : result) : not_positive;
#endif
}

// 1 - erf(x) = t exp(-x^2 + p(t)) for x >= 0, with t = 2 / (2 + x) and a polynomial p of t - 1/2; its
// form is that of Press et al., Numerical Recipes (2007), section 6.2.2.
template <class T>
ACTORFLOW_HOST_DEVICE T erfc(T x) {
#ifdef __CUDA_ARCH__
  return std::erfc(x);
#else
  const T distance = std::fabs(x);
  const T t = 2 / (2 + distance);
  const T right = t * exp(polynomial(Format<T>::erfc_exponent, t - T(0.5)) - distance * distance);
  return x < 0 ? 2 - right : right;
#endif
}

template <class T>
ACTORFLOW_HOST_DEVICE T sigmoid(T x) {
  return 1 / (1 + exp(-x));
}

}  // namespace actorflow::elementary
