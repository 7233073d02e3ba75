#include "kernels/loops/tile_order.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <utility>

BOOST_AUTO_TEST_SUITE(tile_order)

using namespace actorflow;

BOOST_AUTO_TEST_CASE(each_tile_comes_once) {
  for (const std::int64_t rows : {1, 7, 8, 9, 17})
    for (const std::int64_t columns : {1, 3, 16}) {
      std::set<std::pair<std::int64_t, std::int64_t>> places;
      for (std::int64_t tile = 0; tile < rows * columns; ++tile) {
        std::int64_t row = -1, column = -1;
        TileOrder{rows, columns}.place_of(tile, row, column);
        BOOST_TEST((row >= 0 && row < rows && column >= 0 && column < columns));
        places.emplace(row, column);
      }
      BOOST_TEST(std::ssize(places) == rows * columns);
    }
}

BOOST_AUTO_TEST_CASE(a_band_is_finished_before_the_next_begins) {
  std::int64_t row = -1, column = -1;
  TileOrder{20, 5}.place_of(8 * 5 - 1, row, column);
  BOOST_TEST((row == 7 && column == 4));
  TileOrder{20, 5}.place_of(8 * 5, row, column);
  BOOST_TEST((row == 8 && column == 0));
}

BOOST_AUTO_TEST_SUITE_END()
