#include "kernels/loops/sorted_runs.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

BOOST_AUTO_TEST_SUITE(sorted_runs)

using namespace actorflow;

namespace {

using Keys = std::vector<std::uint32_t>;

// All that is asked of these keys, against the standard library. They have memory of their own, so that
// a sanitizer finds a read behind them.
void check_runs(const Keys& keys) {
  const auto count = static_cast<std::int64_t>(keys.size());
  for (std::int64_t begin = 0; begin < count; ++begin) {
    const auto first = keys.begin() + begin;
    BOOST_REQUIRE(begins_run(keys.data(), begin) ==
                  (std::lower_bound(keys.begin(), first, *first) == first));
    for (std::int64_t limit = begin + 1; limit <= count; ++limit) {
      const auto end = std::upper_bound(first, keys.begin() + limit, *first);
      BOOST_REQUIRE_EQUAL(end_of_run(keys.data(), begin, limit), end - keys.begin());
    }
  }
}

}  // namespace

// Bit i says whether a new run begins behind key i.
BOOST_AUTO_TEST_CASE(ends_in_each_sorted_array_of_up_to_10_keys) {
  for (unsigned size = 1; size <= 10; ++size)
    for (unsigned borders = 0; borders < 1U << (size - 1); ++borders) {
      Keys keys(size);
      for (unsigned i = 1; i < size; ++i) keys[i] = keys[i - 1] + (borders >> (i - 1) & 1U);
      check_runs(keys);
    }
}

BOOST_AUTO_TEST_CASE(ends_of_long_runs) {
  for (unsigned length = 1; length <= 70; ++length) {
    Keys keys(length, 7);
    check_runs(keys);
    keys.push_back(8);
    check_runs(keys);
  }
}

BOOST_AUTO_TEST_CASE(keys_of_64_bits_differ_in_their_high_ones) {
  const std::vector<std::uint64_t> keys{1, 1, 1 + (std::uint64_t{1} << 32U)};
  BOOST_TEST(end_of_run(keys.data(), 0, 3) == 2);
  BOOST_TEST(begins_run(keys.data(), 2));
}

BOOST_AUTO_TEST_SUITE_END()
