// Random ops: known answers, distributions, and what decides every bit.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "kernels/loops/philox.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(random_ops)

using namespace actorflow;

namespace {

using test::names;
using test::value_of;
void check_words(const PhiloxBlock& block, const std::vector<std::uint32_t>& expected) {
  BOOST_TEST(std::vector<std::uint32_t>(block.words, block.words + 4) == expected);
}

struct Moments {
  double mean, variance;
};

Moments moments_of(const Tensor& tensor) {
  double total = 0, squares = 0;
  for (const float value : tensor.values<float>()) {
    total += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(tensor.elements());
  return {total / count, squares / count - total / count * (total / count)};
}

constexpr std::int64_t many = 100'000;

}  // namespace

// The known answers that the authors of Philox publish with Random123.
BOOST_AUTO_TEST_CASE(philox_gives_the_known_answers) {
  check_words(philox(0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check_words(philox(~0ULL, ~0ULL, ~0ULL), {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_words(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

// Expected: Philox and statistics.NormalDist().inv_cdf of Python 3.11.
BOOST_AUTO_TEST_CASE(normal_numbers_are_the_quantiles_of_philox) {
  Graph graph;
  const Output counter = graph.constant<std::int64_t>(7);
  const Tensor singles = value_of(random_normal(graph, {6}, 0, 1, 42, DType::float32, counter));
  const std::vector<float> expected{-0.23789319123621244F, 1.258054572004306F,  -0.19215688147205975F,
                                    -0.429457605383039F,   1.2697735374913734F, -0.31802048646823206F};
  for (std::size_t i = 0; i < expected.size(); ++i)
    BOOST_TEST(singles.values<float>()[i] == expected[i], boost::test_tools::tolerance(2e-7F));
  const Tensor doubles = value_of(random_normal(graph, {4}, 10, 2, 42, DType::float64, counter));
  const std::vector<double> quantiles{1.2580545718832397, -0.4294576054318008, -0.3180204862239541,
                                      -0.9382629945213595};
  for (std::size_t i = 0; i < quantiles.size(); ++i)
    BOOST_TEST(doubles.values<double>()[i] == 10 + 2 * quantiles[i],
               boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(the_same_seed_and_counter_give_the_same_bits) {
  Graph graph;
  const Output one = graph.constant<std::int64_t>(1);
  const auto normal = [&](std::uint64_t seed, Output counter) {
    return value_of(random_normal(graph, {100}, 0, 1, seed, DType::float32, counter));
  };
  BOOST_TEST(identical(normal(5, {}), normal(5, {})));
  BOOST_TEST(identical(normal(5, one), normal(5, one)));
  BOOST_TEST(!identical(normal(5, {}), normal(6, {})));
  BOOST_TEST(!identical(normal(5, {}), normal(5, one)));
  BOOST_TEST(identical(normal(5, {}), normal(5, graph.constant<std::int64_t>(0))));
}

BOOST_AUTO_TEST_CASE(an_element_depends_on_its_place_and_not_on_the_size) {
  Graph graph;
  const Tensor small = value_of(random_uniform(graph, {5}, 0, 1, 9));
  const Tensor large = value_of(random_uniform(graph, {1001}, 0, 1, 9));
  BOOST_TEST(std::ranges::equal(small.values<float>(), large.values<float>().first(5)));
}

BOOST_AUTO_TEST_CASE(uniform_numbers_fill_the_interval) {
  Graph graph;
  const Tensor tensor = value_of(random_uniform(graph, {many}, -1, 3, 1));
  const auto [least, most] = std::ranges::minmax(tensor.values<float>());
  BOOST_TEST((least >= -1 && least < -0.99));
  BOOST_TEST((most < 3 && most > 2.99));
  BOOST_TEST(std::abs(moments_of(tensor).mean - 1) < 0.02);
  BOOST_TEST(moments_of(tensor).variance == 16.0 / 12, boost::test_tools::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(uniform_numbers_never_reach_the_open_end) {
  Graph graph;
  // Between these neighbours every second sample would be rounded up.
  const double low = 1, high = std::nextafter(1.0F, 2.0F);
  const Tensor tensor = value_of(random_uniform(graph, {1000}, low, high, 1));
  BOOST_TEST(std::ranges::all_of(tensor.values<float>(), [](float value) { return value == 1.0F; }));
}

BOOST_AUTO_TEST_CASE(normal_numbers_have_the_moments_that_were_asked_for) {
  Graph graph;
  const Tensor tensor = value_of(random_normal(graph, {many}, 5, 3, 2));
  BOOST_TEST(std::abs(moments_of(tensor).mean - 5) < 0.05);
  BOOST_TEST(moments_of(tensor).variance == 9.0, boost::test_tools::tolerance(0.02));
  const auto outside = std::ranges::count_if(tensor.values<float>(),
                                             [](float value) { return std::abs(value - 5) > 2 * 3; });
  BOOST_TEST(static_cast<double>(outside) / many == 0.0455, boost::test_tools::tolerance(0.05));
}

BOOST_AUTO_TEST_CASE(truncated_normal_numbers_stay_within_two_standard_deviations) {
  Graph graph;
  const Tensor tensor = value_of(truncated_normal(graph, {many}, 1, 0.5, 3));
  const auto [least, most] = std::ranges::minmax(tensor.values<float>());
  BOOST_TEST((least >= 0 && least < 0.01));
  BOOST_TEST((most <= 2 && most > 1.99));
  // The variance of a normal distribution cut off at two standard deviations is 0.7737 of the whole
  // one's.
  BOOST_TEST(moments_of(tensor).variance == 0.7737 * 0.25, boost::test_tools::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(nonsense_is_refused) {
  Graph graph;
  BOOST_CHECK_EXCEPTION(random_uniform(graph, {2}, 1, 1, 0), Error,
                        [](const Error& e) { return names(e, "low < high"); });
  BOOST_CHECK_EXCEPTION(random_normal(graph, {2}, 0, -1, 0), Error,
                        [](const Error& e) { return names(e, "-1"); });
  BOOST_CHECK_EXCEPTION(random_normal(graph, {-1}, 0, 1, 0), Error,
                        [](const Error& e) { return names(e, "[?]"); });
  BOOST_CHECK_EXCEPTION(random_normal(graph, {2}, 0, 1, 0, DType::int32), Error,
                        [](const Error& e) { return names(e, "int32"); });
  BOOST_CHECK_EXCEPTION(random_normal(graph, {2}, 0, 1, 0, DType::float32, graph.constant(1.0F)), Error,
                        [](const Error& e) { return names(e, "int64"); });
}

BOOST_AUTO_TEST_SUITE_END()
