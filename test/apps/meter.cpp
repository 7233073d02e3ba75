#include "apps/training/reports/meter.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "apps/training/reports/progress.h"

BOOST_AUTO_TEST_SUITE(meter)

using actorflow::Meter, actorflow::Progress, actorflow::steady_clock;

BOOST_AUTO_TEST_CASE(without_a_step_there_is_nothing) {
  const Meter meter(steady_clock(), 5, 10, 64);
  BOOST_TEST(meter.step() == 5);
  BOOST_TEST(meter.loss() == 0);
  BOOST_TEST(meter.examples_per_second() == 0);
  BOOST_TEST(meter.seconds_left() == 0);
}

BOOST_AUTO_TEST_CASE(means_are_over_the_last_hundred_steps) {
  Meter meter(steady_clock(), 0, 200, 64);
  for (int i = 0; i < 50; ++i) meter.record(i, 1000, 0);
  for (int i = 50; i < 100; ++i) meter.record(i, 1, 0.5);
  for (int i = 100; i < 150; ++i) meter.record(i, 3, 1);
  BOOST_TEST(meter.loss() == 2, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(meter.accuracy() == 0.75, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(speed_counts_every_replica_since_the_start) {
  Meter meter(steady_clock(), 100, 400, 128);
  while (meter.seconds() <= 0) meter.record(200, 1, 1);
  BOOST_TEST(meter.examples_per_second() * meter.seconds() == 100.0 * 128,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(meter.seconds_left() == 2 * meter.seconds(), boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(the_last_step_is_shown_once) {
  Meter meter(steady_clock(), 0, 1, 64);
  meter.record(1, 0.5, 1);
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  Progress progress(out);
  progress.update(meter);
  progress.finish(meter);
  std::fclose(out);
  const std::string shown(text, size);
  std::free(text);
  BOOST_TEST(shown.starts_with("step 1/1  loss 0.5000"), shown);
  BOOST_TEST(std::ranges::count(shown, '\n') == 1, shown);
}

BOOST_AUTO_TEST_CASE(nothing_is_shown_where_all_steps_were_made_before) {
  const Meter meter(steady_clock(), 9, 9, 64);
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  Progress progress(out);
  progress.finish(meter);
  std::fclose(out);
  BOOST_TEST(size == 0U, text);
  std::free(text);
}

BOOST_AUTO_TEST_SUITE_END()
