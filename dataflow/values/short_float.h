// Float16 and BFloat16: floating-point numbers of 16 bits, which are stored, moved and rounded to.
// Arithmetic on them is that of float, to which they convert by themselves, exactly.
//
// Everything is constexpr, so that device code may call it, too.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dataflow/values/same_build.h"

namespace actorflow {

namespace detail {

// A long double would be rounded by way of another type.
template <class T>
concept RoundedAtOnce = std::is_arithmetic_v<T> && !std::is_same_v<T, long double>;

// The nearest float if it has the value; else that neighbour of the value whose last bit is 1. Rounding
// it once more, to fewer bits, gives what rounding the value at once would have given.
constexpr float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<double>(nearest);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (!(back < value || back > value) || (bits & 1U)) return nearest;
  const bool is_beyond = value < 0 ? back < value : back > value;  // farther from 0 than the value
  return std::bit_cast<float>(is_beyond ? bits - 1 : bits + 1);
}

constexpr float rounded_to_odd(float value) { return value; }

// The same of an integer; beyond 2^53 its low bits count for whether there are any.
constexpr float rounded_to_odd(std::int64_t value) {
  constexpr std::int64_t exact = std::int64_t{1} << 53, low = 0x7FF;
  if (value > -exact && value < exact) return rounded_to_odd(static_cast<double>(value));
  const std::int64_t odd = (value & low) != 0 ? low + 1 : 0;
  return rounded_to_odd(static_cast<double>((value & ~low) | odd));
}

constexpr float rounded_to_odd(std::uint64_t value) {
  if (value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return rounded_to_odd(static_cast<std::int64_t>(value));
  return 2 * rounded_to_odd(static_cast<std::int64_t>(value >> 1U | (value & 1U)));
}

}  // namespace detail

// IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
struct Binary16 {
  static constexpr std::uint16_t round(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value), rest = bits & 0x7FFFFFFFU;
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    // A carry of the fraction goes on into the exponent, up to infinity.
    const std::uint32_t normal = (rest + 0xFFFU + ((rest >> 13U) & 1U) - 0x38000000U) >> 13U;
    // The last bit of 0.5F has the value of the smallest subnormal number: adding rounds to these.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) + 0.5F) - 0x3F000000U;
    const std::uint32_t nan = 0x7E00U | ((rest >> 13U) & 0x3FFU);
    const std::uint32_t finite = rest < 0x38800000U ? subnormal : normal;
    const std::uint32_t number = rest < 0x47800000U ? finite : 0x7C00U;
    return static_cast<std::uint16_t>(sign | (rest > 0x7F800000U ? nan : number));
  }

  static constexpr float widen(std::uint16_t stored) {
    const std::uint32_t bits = stored, rest = bits & 0x7FFFU, sign = (bits & 0x8000U) << 16U;
    const auto subnormal =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(rest)) * 0x1p-24F);
    const std::uint32_t normal = (rest << 13U) + 0x38000000U, special = (rest << 13U) | 0x7F800000U;
    const std::uint32_t finite = rest < 0x400U ? subnormal : normal;
    return std::bit_cast<float>(sign | (rest < 0x7C00U ? finite : special));
  }
};

// The upper half of a float: 8 bits of exponent, 7 of fraction.
struct UpperHalf {
  static constexpr std::uint16_t round(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t nearest = bits + 0x7FFFU + ((bits >> 16U) & 1U);
    const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    return static_cast<std::uint16_t>((is_nan ? bits | 0x400000U : nearest) >> 16U);
  }

  static constexpr float widen(std::uint16_t stored) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(stored) << 16U);
  }
};

// A number of 16 bits. A number becomes one by rounding to the nearest, ties to even: what is too large
// becomes infinity, NaN stays NaN.
template <class Format>
class ShortFloat {
 public:
  ShortFloat() = default;
  template <detail::RoundedAtOnce T>
  explicit constexpr ShortFloat(T value) : bits_(Format::round(detail::rounded_to_odd(wide(value)))) {}
  constexpr operator float() const { return Format::widen(bits_); }

  static constexpr ShortFloat of_bits(std::uint16_t bits) {
    ShortFloat number{};
    number.bits_ = bits;
    return number;
  }
  constexpr std::uint16_t bits() const { return bits_; }

 private:
  template <class T>
  static constexpr auto wide(T value) {
    if constexpr (std::is_unsigned_v<T>)
      return static_cast<std::uint64_t>(value);
    else if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(value);
    else
      return value;
  }

  std::uint16_t bits_;
};

using Float16 = ShortFloat<Binary16>;
using BFloat16 = ShortFloat<UpperHalf>;

// Whether T is one of them.
template <class T>
inline constexpr bool is_short_float = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

}  // namespace actorflow
