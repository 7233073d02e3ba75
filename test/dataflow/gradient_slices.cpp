// Which rank updates which elements.
#include "dataflow/train/gradient_slices.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>

BOOST_AUTO_TEST_SUITE(gradient_slices)

using namespace actorflow;

namespace {

std::vector<Output> gradients_of(Graph& g, const std::vector<std::int64_t>& elements) {
  std::vector<Output> gradients;
  for (const auto count : elements) gradients.push_back(g.placeholder(DType::float32, {count}));
  return gradients;
}

AllReduce of_ranks(int ranks) {
  AllReduce options{.sharded_optimizer = true};
  for (int rank = 0; rank < ranks; ++rank)
    options.tasks.push_back("/job:worker/task:" + std::to_string(rank));
  return options;
}

std::vector<SlicedBucket> plan(const std::vector<std::int64_t>& elements,
                               const std::vector<Optimizer>& optimizers, const AllReduce& options) {
  Graph g;
  return plan_slices(gradients_of(g, elements), optimizers, options);
}

using Positions = std::vector<std::size_t>;
using Numbers = std::vector<std::int64_t>;

}  // namespace

BOOST_AUTO_TEST_CASE(equal_slices_cut_through_variables) {
  const auto buckets = plan({4, 3, 3}, {Adam{}, Adam{}, Adam{}}, of_ranks(2));
  BOOST_TEST_REQUIRE(buckets.size() == 1);
  BOOST_TEST(buckets[0].members == Positions({0, 1, 2}));
  BOOST_TEST(buckets[0].borders == Numbers({0, 4, 4, 0, 1, 3, 0, 0, 3}));
}

BOOST_AUTO_TEST_CASE(ranks_may_be_more_than_elements) {
  const auto buckets = plan({2}, {Sgd{}}, of_ranks(4));
  BOOST_TEST_REQUIRE(buckets.size() == 1);
  BOOST_TEST(buckets[0].borders == Numbers({0, 1, 2, 2, 2}));
}

BOOST_AUTO_TEST_CASE(an_optimizer_that_needs_whole_variables_gets_them) {
  const Optimizer lamb = Lamb{};
  const auto buckets = plan({5, 1, 4, 2}, {lamb, lamb, lamb, lamb}, of_ranks(2));
  BOOST_TEST_REQUIRE(buckets.size() == 1);
  // 5 and 1 for rank 0, 4 and 2 for rank 1.
  BOOST_TEST(buckets[0].members == Positions({0, 1, 2, 3}));
  BOOST_TEST(buckets[0].borders == Numbers({0, 5, 5, 0, 1, 1, 0, 0, 4, 0, 0, 2}));
}

BOOST_AUTO_TEST_CASE(whole_variables_of_several_buckets_are_spread_evenly) {
  AllReduce options = of_ranks(3);
  options.alone_bytes = 4;
  const std::vector<Optimizer> lamb(6, Lamb{});
  Numbers loads(3);
  for (const auto& bucket : plan({9, 9, 9, 5, 5, 5}, lamb, options))
    for (std::size_t rank = 0; rank < 3; ++rank)
      loads[rank] += bucket.borders[rank + 1] - bucket.borders[rank];
  BOOST_TEST(loads == Numbers({14, 14, 14}));
}

BOOST_AUTO_TEST_CASE(a_bucket_has_one_optimizer) {
  const Optimizer with_decay = AdamW{.weight_decay = 0.1}, without = AdamW{.weight_decay = 0};
  const auto buckets = plan({4, 4, 4, 4}, {with_decay, without, with_decay, without}, of_ranks(2));
  BOOST_TEST_REQUIRE(buckets.size() == 2);
  BOOST_TEST(buckets[0].members == Positions({0, 2}));
  BOOST_TEST(buckets[1].members == Positions({1, 3}));
}

BOOST_AUTO_TEST_CASE(optimizers_of_a_program_get_whole_variables) {
  BOOST_TEST(is_elementwise(AdamW{}));
  BOOST_TEST(!is_elementwise(Lamb{}));
  BOOST_TEST(!is_elementwise(Muon{}));
  BOOST_TEST(!is_elementwise(Optimizer("my own", {0.1})));
}

BOOST_AUTO_TEST_SUITE_END()
