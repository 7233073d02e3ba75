// Every pattern of the 16 bits, against arithmetic in float64 and against the compiler's own type.
#include "dataflow/values/short_float.h"

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>

BOOST_AUTO_TEST_SUITE(short_float)

using namespace actorflow;

namespace {

constexpr int patterns = 1 << 16;

template <class T>
T of(int pattern) {
  return T::of_bits(static_cast<std::uint16_t>(pattern));
}

// The value that the bits of a finite positive number mean.
double meaning(int pattern, int fraction_bits, int bias) {
  const int exponent = pattern >> fraction_bits, fraction = pattern & ((1 << fraction_bits) - 1);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                       : std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

// Boost's checks are slow: only what is wrong is reported.
void require(bool holds, int pattern) {
  if (!holds) BOOST_ERROR("the pattern " << pattern);
}

// What lies between two neighbours goes to the nearer one, the middle to the one whose last bit is 0.
template <class T>
void check_neighbours(int pattern, double value, double next) {
  const double middle = (value + next) / 2;
  for (const double sign : {1.0, -1.0}) {
    const int sign_bit = sign > 0 ? 0 : 1 << 15;
    const auto becomes = [&](double x, int expected) {
      require(T(sign * x).bits() == (expected | sign_bit), pattern);
      const auto narrow = static_cast<float>(x);
      if (static_cast<double>(narrow) == x)
        require(T(static_cast<float>(sign) * narrow).bits() == (expected | sign_bit), pattern);
    };
    const auto narrow = static_cast<float>(middle);
    becomes(value, pattern);
    becomes(middle, pattern % 2 == 0 ? pattern : pattern + 1);
    becomes(std::nextafter(middle, 0), pattern);
    becomes(std::nextafter(middle, next), pattern + 1);
    becomes(std::nextafter(narrow, 0.0F), pattern);
    becomes(std::nextafter(narrow, std::numeric_limits<float>::max()), pattern + 1);
  }
}

template <class T>
void check_every_pattern(int fraction_bits, int bias) {
  const int infinity = (1 << 15) - (1 << fraction_bits);
  for (int pattern = 0; pattern < infinity; ++pattern) {
    const double value = meaning(pattern, fraction_bits, bias);
    require(static_cast<double>(of<T>(pattern)) == value, pattern);
    require(static_cast<double>(of<T>(pattern | 1 << 15)) == -value, pattern);
    if (pattern + 1 < infinity)  // above the last one is what overflows
      check_neighbours<T>(pattern, value, meaning(pattern + 1, fraction_bits, bias));
  }
  constexpr float endless = std::numeric_limits<float>::infinity();
  require(of<T>(infinity) == endless && of<T>(infinity | 1 << 15) == -endless, infinity);
  require(T(endless).bits() == infinity && T(-endless).bits() == (infinity | 1 << 15), infinity);
  for (int pattern = infinity + 1; pattern < 1 << 15; ++pattern)
    for (const int nan : {pattern, pattern | 1 << 15}) {
      require(std::isnan(of<T>(nan)), nan);
      // Only the bit that makes it a quiet one may change.
      require(T(static_cast<float>(of<T>(nan))).bits() == (nan | 1 << (fraction_bits - 1)), nan);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_float16_is_its_value_and_the_nearest_to_its_surroundings) {
  check_every_pattern<Float16>(10, 15);
}

BOOST_AUTO_TEST_CASE(every_bfloat16_is_its_value_and_the_nearest_to_its_surroundings) {
  check_every_pattern<BFloat16>(7, 127);
}

#ifdef __FLT16_MANT_DIG__
BOOST_AUTO_TEST_CASE(float16_is_that_of_the_compiler) {
  for (int pattern = 0; pattern < patterns; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const auto theirs = static_cast<float>(std::bit_cast<_Float16>(bits));
    const float ours = of<Float16>(pattern);
    require(ours == theirs || (std::isnan(ours) && std::isnan(theirs)), pattern);
  }
  // Floats of every exponent and sign, and of many fractions.
  for (std::uint32_t i = 0; i < 1U << 20U; ++i) {
    const auto x = std::bit_cast<float>(i * 4099U);
    if (!std::isnan(x))
      require(Float16(x).bits() == std::bit_cast<std::uint16_t>(static_cast<_Float16>(x)),
              static_cast<int>(i));
  }
}
#endif

BOOST_AUTO_TEST_CASE(what_is_too_large_becomes_infinity) {
  constexpr float endless = std::numeric_limits<float>::infinity();
  BOOST_TEST(Float16(65504) == 65504);
  BOOST_TEST(Float16(65519.996F) == 65504);
  BOOST_TEST(Float16(65520) == endless);
  BOOST_TEST(Float16(-1e300) == -endless);
  BOOST_TEST(BFloat16(std::numeric_limits<float>::max()) == endless);
  BOOST_TEST(BFloat16(std::numeric_limits<std::int64_t>::min()) == -0x1p63F);
  BOOST_TEST(BFloat16(std::numeric_limits<std::uint64_t>::max()) == 0x1p64F);
  BOOST_TEST(Float16(std::numeric_limits<std::uint64_t>::max()) == endless);
  BOOST_TEST(Float16(1e-300) == 0);
  BOOST_TEST(std::signbit(Float16(-1e-300)));
}

// By way of a float these would be ties, which go to the even side.
BOOST_AUTO_TEST_CASE(a_number_is_rounded_once) {
  BOOST_TEST(BFloat16(1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7);
  BOOST_TEST(Float16(-1 - 0x1p-11 - 0x1p-40) == -1 - 0x1p-10);
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  BOOST_TEST(BFloat16(tie) == 0x1p62F);
  BOOST_TEST(BFloat16(tie + 1) == 0x1p62F + 0x1p55F);
  BOOST_TEST(BFloat16(-tie - 1) == -0x1p62F - 0x1p55F);
  BOOST_TEST(BFloat16(-tie + 1) == -0x1p62F);
  const std::uint64_t large = (std::uint64_t{1} << 63U) + (std::uint64_t{1} << 55U);
  BOOST_TEST(BFloat16(large) == 0x1p63F);
  BOOST_TEST(BFloat16(large + 1) == 0x1p63F + 0x1p56F);
  BOOST_TEST(BFloat16(large - 1) == 0x1p63F);
}

BOOST_AUTO_TEST_CASE(arithmetic_is_that_of_floats) {
  const BFloat16 a(1.5), b(0.25);
  static_assert(std::is_same_v<decltype(a + b), float> && std::is_trivially_copyable_v<BFloat16>);
  static_assert(!std::is_constructible_v<BFloat16, long double>);  // by way of another type
  BOOST_TEST(a + b == 1.75F);
  BOOST_TEST((b < a));
  BOOST_TEST((Float16(0.0F) == Float16(-0.0F)));
}

BOOST_AUTO_TEST_SUITE_END()
