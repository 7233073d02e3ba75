// How much a sender may have alive at the other end, over time.
#include "schema/rpc/window.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(window)

using namespace actorflow;

namespace {

constexpr auto second = 1 * kj::SECONDS;

// Of 100 bytes at first and 1,000 at most, which shrinks every 10 s.
struct Time {
  kj::TimePoint now = kj::origin<kj::TimePoint>() + 1000 * second;
  Window window{100, 1000, 10 * second, now};

  void grow(int times) {
    for (int i = 0; i < times; ++i) window.grow(now);
  }
  std::size_t after(int seconds, std::size_t held_bytes) {
    now += seconds * second;
    window.shrink(held_bytes, now);
    return window.bytes();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_message_goes_while_there_is_room_or_alone, Time) {
  BOOST_TEST(window.fits(40, 60));
  BOOST_TEST(!window.fits(40, 61));
  BOOST_TEST(window.fits(0, 5000));
  BOOST_TEST(!window.fits(5000, 1));
}

BOOST_FIXTURE_TEST_CASE(it_grows_to_the_most_and_no_further, Time) {
  grow(2);
  BOOST_TEST(window.bytes() == 400U);
  BOOST_TEST(window.may_grow());
  grow(2);
  BOOST_TEST(window.bytes() == 1000U);
  BOOST_TEST(!window.may_grow());
}

BOOST_FIXTURE_TEST_CASE(it_shrinks_step_by_step_to_its_first_size, Time) {
  grow(4);
  BOOST_TEST(after(9, 0) == 1000U);
  BOOST_TEST(after(1, 0) == 500U);
  BOOST_TEST(after(10, 0) == 250U);
  BOOST_TEST(after(25, 0) == 100U);
  BOOST_TEST(after(1000, 0) == 100U);
}

BOOST_FIXTURE_TEST_CASE(it_stays_while_it_is_needed, Time) {
  grow(4);
  window.held(600, now + 8 * second);
  BOOST_TEST(after(15, 0) == 1000U);
  BOOST_TEST(after(5, 600) == 1000U);  // still half full
  BOOST_TEST(after(5, 400) == 1000U);
  BOOST_TEST(after(5, 400) == 500U);
  BOOST_TEST(after(30, 400) == 500U);  // 400 are needed now
}

BOOST_FIXTURE_TEST_CASE(one_that_begins_with_the_most_keeps_it, Time) {
  const Window whole(1 << 20, 1000, 10 * second, now);
  BOOST_TEST(whole.bytes() == 1000U);
  BOOST_TEST(!whole.may_grow());
}

BOOST_AUTO_TEST_SUITE_END()
