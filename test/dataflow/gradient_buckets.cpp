// Which gradients travel together.
#include "dataflow/train/gradient_buckets.h"

#include <boost/test/unit_test.hpp>

BOOST_AUTO_TEST_SUITE(gradient_buckets)

using namespace actorflow;

namespace {

using Buckets = std::vector<std::vector<std::size_t>>;

// Gradients of so many float32 elements, in the order in which they are computed.
std::vector<Output> gradients_of(Graph& g, const std::vector<std::int64_t>& elements,
                                 DType dtype = DType::float32) {
  std::vector<Output> gradients;
  for (const auto count : elements) gradients.push_back(g.placeholder(dtype, {count}));
  return gradients;
}

const AllReduce small{.first_bucket_bytes = 40, .bucket_bytes = 80, .alone_bytes = 400};

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_bucket_is_smaller_than_the_others) {
  Graph g;
  const auto gradients = gradients_of(g, {5, 5, 5, 5, 5, 5, 5});
  BOOST_TEST((plan_buckets(gradients, small) == Buckets{{0, 1}, {2, 3, 4, 5}, {6}}));
}

BOOST_AUTO_TEST_CASE(gradients_follow_each_other_as_back_propagation_computes_them) {
  Graph g;
  auto gradients = gradients_of(g, {5, 5, 5});
  std::swap(gradients[0], gradients[2]);  // of the last variable first
  BOOST_TEST((plan_buckets(gradients, small) == Buckets{{2, 1}, {0}}));
}

BOOST_AUTO_TEST_CASE(a_large_gradient_travels_alone_and_splits_no_bucket) {
  Graph g;
  BOOST_TEST((plan_buckets(gradients_of(g, {1, 100, 1, 1}), small) == Buckets{{1}, {0, 2, 3}}));
}

BOOST_AUTO_TEST_CASE(one_that_fills_more_than_a_bucket_is_its_only_member) {
  Graph g;
  BOOST_TEST((plan_buckets(gradients_of(g, {30, 1, 30}), small) == Buckets{{0}, {1}, {2}}));
}

BOOST_AUTO_TEST_CASE(a_bucket_has_one_dtype) {
  Graph g;
  auto gradients = gradients_of(g, {2, 2});
  for (const auto& more : gradients_of(g, {2, 2}, DType::float64)) gradients.push_back(more);
  BOOST_TEST((plan_buckets(gradients, small) == Buckets{{0, 1}, {2, 3}}));
}

BOOST_AUTO_TEST_CASE(no_gradient_needs_no_bucket) { BOOST_TEST(plan_buckets({}, small).empty()); }

BOOST_AUTO_TEST_SUITE_END()
