// What functions REQUIRE of their callers ends the process, with the values, instead of reading on.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "actors/collectives/operation/fusion.h"
#include "actors/ensembles/samples.h"
#include "actors/models/images/symmetric_eigen.h"
#include "actors/shard/slot_slices.h"
#include "actors/task/server.h"
#include "test/support/crash.h"

BOOST_AUTO_TEST_SUITE(requirements)

using namespace actorflow;

namespace {

void expect_death(const std::function<void()>& body, const std::string& values) {
  const test::Death death = test::death_of(body);
  BOOST_TEST(death.signal == SIGABRT);
  BOOST_TEST(death.said.find("broken invariant") != std::string::npos, death.said);
  BOOST_TEST(death.said.find(values) != std::string::npos, death.said);
}

}  // namespace

BOOST_AUTO_TEST_CASE(tensors_are_fused_of_one_dtype_and_cut_into_all_that_they_have) {
  const std::vector<Tensor> mixed{Tensor{1.0F}, Tensor::of<std::int32_t>({1}, {1})};
  expect_death([] { fused({}, FusedLayout::packed, heap()); }, "no tensors");
  expect_death([&] { fused(mixed, FusedLayout::packed, heap()); }, "int32[1]");
  const std::vector<Shape> shapes{{2}, {2}};
  expect_death([&] { cut(Tensor{1.0F, 2.0F, 3.0F}, shapes); }, "a part that ends at 16 of");
  expect_death([&] { cut(Tensor{1.0F, 2.0F, 3.0F, 4.0F, 5.0F}, shapes); }, "parts that end at 16 of");
}

BOOST_AUTO_TEST_CASE(slices_of_slots_lie_within_their_tensors) {
  const Tensor three{1.0F, 2.0F, 3.0F};
  expect_death([&] { elements_of(three, {2, 2}); }, "2 elements from 2 of");
  expect_death([&] { elements_of(three, {-1, 2}); }, "2 elements from -1 of");
  BOOST_TEST(elements_of(three, {1, 2}).values<float>()[1] == 3.0F);
}

BOOST_AUTO_TEST_CASE(samples_are_of_rows_and_squares_of_the_size_of_their_matrix) {
  expect_death([] { bootstrap_sample(0, 3, 1); }, "3 draws of 0 rows");
  const std::vector<double> two{1, 2};
  expect_death([&] { SymmetricMatrix(3).add_square(two); }, "2 elements for a matrix of size 3");
}

BOOST_AUTO_TEST_CASE(a_job_does_not_fail_without_an_error) {
  expect_death([] { Server::local().fail_cluster({}); }, "the status ok");
}

BOOST_AUTO_TEST_SUITE_END()
