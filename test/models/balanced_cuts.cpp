// The cut of layers into stages, beside all cuts that there are.
#include "actors/models/pipeline/balanced_cut.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "actors/layers/layers.h"
#include "actors/models/pipeline/stages.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(balanced_cuts)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Costs = std::vector<double>;
using Borders = std::vector<std::size_t>;

// Of the most costly part. The costs are whole numbers, so that sums are exact in any order.
double slowest(const Costs& costs, const Borders& borders) {
  double most = 0, part = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (std::ranges::find(borders, i) != borders.end()) part = 0;
    part += costs[i];
    most = std::max(most, part);
  }
  return most;
}

// The least that any choice of borders among the allowed ones gives.
double least_by_brute_force(const Costs& costs, const Borders& allowed, int parts) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t chosen = 0; chosen < (1U << allowed.size()); ++chosen) {
    Borders borders;
    for (std::size_t i = 0; i < allowed.size(); ++i)
      if ((chosen >> i & 1U) != 0) borders.push_back(allowed[i]);
    if (std::ssize(borders) + 1 == parts) least = std::min(least, slowest(costs, borders));
  }
  return least;
}

// dense ... dense_4
Architecture five_layers() { return chain({dense(1), dense(1), dense(1), dense(1), dense(1)}); }
const std::vector<TensorType> one_number{{DType::float32, {1}}};

std::vector<std::string> cut_by(const LayerCosts& costs, int stages,
                                const Architecture& model = five_layers()) {
  return layers_to_cut_before(model, one_number, {.stages = stages, .costs = costs});
}

}  // namespace

BOOST_AUTO_TEST_CASE(no_other_cut_has_a_faster_slowest_part) {
  std::mt19937 random(15);
  const auto below = [&random](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random()) % limit;
  };
  for (int round = 0; round < 300; ++round) {
    Costs costs(1 + below(10));
    for (double& cost : costs) cost = below(4) == 0 ? 0 : below(100);
    Borders allowed;
    for (std::size_t border = 1; border < costs.size(); ++border)
      if (below(5) > 0) allowed.push_back(border);
    for (int parts = 1; parts <= std::ssize(allowed) + 1; ++parts) {
      const Borders borders = balanced_cut(costs, allowed, parts);
      BOOST_REQUIRE(std::ssize(borders) + 1 == parts);
      for (const std::size_t border : borders)
        BOOST_TEST((std::ranges::find(allowed, border) != allowed.end()));
      BOOST_TEST((std::ranges::adjacent_find(borders, std::greater_equal<>()) == borders.end()));
      BOOST_TEST(slowest(costs, borders) == least_by_brute_force(costs, allowed, parts));
    }
  }
}

BOOST_AUTO_TEST_CASE(of_equally_good_cuts_the_first_one_is_taken) {
  const Costs equal(6, 1.0);
  const Borders all{1, 2, 3, 4, 5};
  BOOST_TEST(balanced_cut(equal, all, 4) == (Borders{1, 2, 4}), boost::test_tools::per_element());
  const Costs none(4, 0.0);
  BOOST_TEST(balanced_cut(none, Borders{1, 2, 3}, 3) == (Borders{1, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(layers_are_cut_by_the_costs_that_are_given) {
  const LayerCosts late{{"dense", 1}, {"dense_1", 1}, {"dense_2", 1}, {"dense_3", 1}, {"dense_4", 9}};
  BOOST_TEST(cut_by(late, 2) == std::vector<std::string>{"dense_4"}, boost::test_tools::per_element());
  const LayerCosts early{{"dense", 9}, {"dense_1", 8}, {"dense_2", 1}, {"dense_3", 1}, {"dense_4", 1}};
  BOOST_TEST(cut_by(early, 3) == (std::vector<std::string>{"dense_1", "dense_2"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_layer_that_is_used_twice_counts_once_and_stays_whole) {
  const Layer twice = dense(1).named("twice");
  const Architecture model = chain({dense(1), twice, twice, dense(1)});
  BOOST_TEST(cut_by({{"dense", 5}, {"twice", 4}, {"dense_1", 2}}, 2, model) ==
                 std::vector<std::string>{"twice"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(costs_of_other_layers_are_refused_by_name) {
  BOOST_CHECK_EXCEPTION(cut_by({{"dense", 1}}, 2), Error, says("no cost is given for 'dense_1'"));
  LayerCosts costs{{"dense", 1}, {"dense_1", 1}, {"dense_2", 1}, {"dense_3", 1}, {"dense_4", -1}};
  BOOST_CHECK_EXCEPTION(cut_by(costs, 2), Error, says("the cost of 'dense_4' is -1"));
  costs["dense_9"] = 1;
  costs["dense_4"] = 1;
  BOOST_CHECK_EXCEPTION(cut_by(costs, 2), Error, says("a cost is given for 'dense_9'"));
}

BOOST_AUTO_TEST_SUITE_END()
