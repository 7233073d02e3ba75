#include "kernels/images/padded_images.h"

#include <boost/test/unit_test.hpp>
#include <vector>

BOOST_AUTO_TEST_SUITE(padded_images)

using namespace actorflow;

namespace {

// 2 images of 3x4 pixels; windows of 3x2 by strides of 2.
ConvShape shape(std::int64_t channels) {
  return {.batch = 2,
          .in = channels,
          .out = 1,
          .rows = {.input = 3, .output = 2, .window = 3, .stride = 2, .before = 1},
          .columns = {.input = 4, .output = 3, .window = 2, .stride = 2, .before = 0}};
}

// By counting through all elements of the padded images.
std::vector<std::int64_t> expected_places(const ConvShape& s) {
  std::vector<std::int64_t> places;
  std::int64_t next = 0;
  for (std::int64_t image = 0; image < s.batch; ++image)
    for (std::int64_t row = -s.rows.before; row < s.rows.input + s.rows.after(); ++row)
      for (std::int64_t column = -s.columns.before; column < s.columns.input + s.columns.after();
           ++column)
        for (std::int64_t channel = 0; channel < s.in; ++channel) {
          const bool inside = row >= 0 && row < s.rows.input && column >= 0 && column < s.columns.input;
          places.push_back(inside ? next++ : -1);
        }
  return places;
}

template <class Index>
void check_places(std::int64_t channels, std::int64_t pack) {
  const ConvShape s = shape(channels);
  const auto expected = expected_places(s);
  const PaddedPlaces<Index> places(s, pack);
  BOOST_TEST(places.packs() * pack == std::ssize(expected));
  for (std::int64_t i = 0; i < places.packs(); ++i)
    BOOST_TEST(places.place_in_images(static_cast<Index>(i)) ==
               expected[static_cast<std::size_t>(i * pack)]);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_pack_is_where_its_first_element_is) {
  check_places<std::uint32_t>(8, 4);
  check_places<std::uint32_t>(3, 1);
  check_places<std::int64_t>(3, 1);
}

BOOST_AUTO_TEST_CASE(what_is_padded_is_alike) {
  const ConvShape s = shape(3);
  BOOST_TEST(!pads_alike(s));
  BOOST_TEST(pads_alike(padded(s)));
  BOOST_TEST((padded(s).images() == Shape{2, 5, 6, 3}));
}

BOOST_AUTO_TEST_SUITE_END()
