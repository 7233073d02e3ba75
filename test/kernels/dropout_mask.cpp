// Which elements dropout keeps, and what it makes of them.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(dropout_mask)

using namespace actorflow;

namespace {

using test::names;
using test::value_of;

constexpr std::int64_t elements = 100'003;

struct Model {
  Graph graph;
  Output x = ones_like(fill(graph, {elements}, 1));
  Output counter = graph.constant(std::int64_t{5});

  Output dropped(double rate, std::uint64_t seed = 1) { return dropout(x, rate, seed, counter); }
};

std::vector<float> values_of(Output output) {
  const Tensor tensor = value_of(output);
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

// The fraction of elements that two vectors have in common.
double agreement(const std::vector<float>& a, const std::vector<float>& b) {
  double same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return same / static_cast<double>(a.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_rate_of_the_elements_is_dropped_and_the_rest_grows) {
  for (const double rate : {0.1, 0.5, 0.75}) {
    Model m;
    double dropped = 0;
    for (const float value : values_of(m.dropped(rate))) {
      dropped += value == 0;
      if (value != 0) BOOST_TEST_REQUIRE(value == static_cast<float>(1 / (1 - rate)));
    }
    const double deviation = std::sqrt(rate * (1 - rate) * static_cast<double>(elements));
    BOOST_TEST(std::abs(dropped - rate * static_cast<double>(elements)) < 4 * deviation);
  }
}

BOOST_AUTO_TEST_CASE(seed_and_counter_choose_the_elements) {
  Model m;
  const auto first = values_of(m.dropped(0.5));
  BOOST_TEST((values_of(m.dropped(0.5)) == first));
  BOOST_TEST(std::abs(agreement(values_of(m.dropped(0.5, 2)), first) - 0.5) < 0.02);
  m.counter = m.graph.constant(std::int64_t{6});
  BOOST_TEST(std::abs(agreement(values_of(m.dropped(0.5)), first) - 0.5) < 0.02);
}

BOOST_AUTO_TEST_CASE(neighbours_are_independent) {
  Model m;
  const auto y = values_of(m.dropped(0.5));
  for (const std::size_t distance : {1U, 4U, 256U})
    BOOST_TEST(std::abs(agreement({y.begin() + static_cast<std::ptrdiff_t>(distance), y.end()},
                                  {y.begin(), y.end() - static_cast<std::ptrdiff_t>(distance)}) -
                        0.5) < 0.02);
}

BOOST_AUTO_TEST_CASE(the_gradient_flows_through_what_was_kept) {
  Model m;
  const Output y = m.dropped(0.3), loss = sum(y);
  const Output gradient = gradients(loss, {m.x}).front();
  BOOST_TEST((values_of(gradient) == values_of(y)));  // x is 1 everywhere
}

BOOST_AUTO_TEST_CASE(a_rate_of_0_changes_nothing) {
  Model m;
  BOOST_TEST((values_of(m.dropped(0)) == values_of(m.x)));
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  Model m;
  for (const double rate : {-0.1, 1.0, std::nan("")})
    BOOST_CHECK_EXCEPTION(m.dropped(rate), Error, [](const Error& e) { return names(e, "rate"); });
  m.counter = m.graph.constant(1.0F);
  BOOST_CHECK_EXCEPTION(m.dropped(0.5), Error, [](const Error& e) { return names(e, "int64"); });
}

BOOST_AUTO_TEST_SUITE_END()
