// Copies past the cache.
#include "kernels/loops/streaming_copy.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <numeric>

BOOST_AUTO_TEST_SUITE(streaming_copy)

BOOST_AUTO_TEST_CASE(every_place_and_size_is_copied_and_nothing_else) {
  std::array<unsigned char, 128> values;
  std::iota(values.begin(), values.end(), static_cast<unsigned char>(1));
  const auto* const from = reinterpret_cast<const std::byte*>(values.data());
  int wrong = 0;
  for (std::size_t begin = 0; begin < 32; ++begin)
    for (std::size_t size = 0; size <= 64; ++size) {
      std::array<std::byte, 128> to{};
      actorflow::streaming_copy(to.data() + begin, from + 3, size);
      actorflow::finish_streaming();
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool copied = i >= begin && i < begin + size;
        wrong += to[i] != (copied ? from[3 + i - begin] : std::byte{0});
      }
    }
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
