#include "kernels/loops/strided_packs.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(strided_packs)

using namespace actorflow;

namespace {

StridedLoops<2> nest(std::initializer_list<std::array<std::int64_t, 3>> loops) {
  StridedLoops<2> result;
  for (const auto& [dim, first, second] : loops) result.append(dim, {first, second});
  result.finish();
  return result;
}

// [batch, time, heads, 32] -> [batch, heads, time, 32]
StridedLoops<2> heads_first() { return nest({{2, 1920, 1920}, {3, 32, 640}, {20, 96, 32}, {32, 1, 1}}); }

}  // namespace

BOOST_AUTO_TEST_CASE(packs_need_a_divisible_row) {
  BOOST_TEST(turns_in_packs(heads_first(), 4, {0, 0}));
  BOOST_TEST(turns_in_packs(nest({{12, 1, 1}}), 4, {0, 0}));
  BOOST_TEST(!turns_in_packs(nest({{14, 1, 1}}), 4, {0, 0}));
  BOOST_TEST(turns_in_packs(nest({{14, 1, 1}}), 2, {0, 0}));
  BOOST_TEST(!turns_in_packs(nest({}), 2, {0, 0}));
}

BOOST_AUTO_TEST_CASE(packs_need_aligned_places) {
  BOOST_TEST(turns_in_packs(heads_first(), 4, {8, 4}));
  BOOST_TEST(!turns_in_packs(heads_first(), 4, {8, 2}));
  BOOST_TEST(turns_in_packs(heads_first(), 2, {8, 2}));
  BOOST_TEST(!turns_in_packs(heads_first(), 2, {1, 2}));
}

BOOST_AUTO_TEST_CASE(packs_need_strides_that_keep_the_alignment) {
  BOOST_TEST(turns_in_packs(nest({{5, 12, 8}, {8, 1, 1}}), 4, {0, 0}));
  BOOST_TEST(!turns_in_packs(nest({{5, 10, 8}, {8, 1, 1}}), 4, {0, 0}));
  BOOST_TEST(turns_in_packs(nest({{5, -12, 8}, {8, 1, 1}}), 4, {60, 0}));
  BOOST_TEST(!turns_in_packs(nest({{8, 2, 1}}), 4, {0, 0}));
}

BOOST_AUTO_TEST_CASE(a_pack_may_share_one_element) {
  BOOST_TEST(turns_in_packs(nest({{8, 0, 1}}), 4, {3, 0}));
  BOOST_TEST(turns_in_packs(nest({{5, 1, 8}, {8, 0, 1}}), 4, {3, 0}));
}

BOOST_AUTO_TEST_CASE(turns_of_packs_begin_where_their_first_turns_are) {
  for (const auto& loops : {heads_first(), nest({{8, 0, 1}}), nest({{5, 1, 8}, {8, 0, 1}}),
                            nest({{3, 0, 40}, {5, 16, 8}, {8, 1, 1}})})
    for (const std::int64_t n : {1, 2, 4}) {
      const auto packs = loops_over_packs(loops, n);
      BOOST_TEST_REQUIRE(packs.elements == loops.elements / n);
      for (std::int64_t turn = 0; turn < packs.elements; ++turn)
        for (int operand = 0; operand < 2; ++operand) {
          const std::int64_t expected = loops.offset(operand, turn * n);
          BOOST_TEST(offsets_at(packs, turn).of[operand] == expected);
          BOOST_TEST(divided_offsets(packs, turn).of[operand] == expected);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
