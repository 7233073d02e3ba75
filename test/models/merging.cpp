// Layers of several inputs.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <vector>

#include "actors/models/model.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(merging)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Floats = std::vector<float>;

Floats merged(const Layer& layer, const Tensor& a, const Tensor& b) {
  const auto example = [](const Tensor& x) { return Shape(x.shape().dims().subspan(1)); };
  const SymbolicTensor left = input(example(a)), right = input(example(b));
  Model model({left, right}, {layer({left, right})});
  const Tensor result = model.predict({a, b})[0];
  return {result.values<float>().begin(), result.values<float>().end()};
}

const Tensor a = Tensor::of<float>({2, 2}, {1, 2, -3, 4}), b = Tensor::of<float>({2, 2}, {5, 0, 1, -1});

}  // namespace

BOOST_AUTO_TEST_CASE(two_inputs_become_one) {
  BOOST_TEST(merged(subtract(), a, b) == (Floats{-4, 2, -4, 5}));
  BOOST_TEST(merged(maximum(), a, b) == (Floats{5, 2, 1, 4}));
  BOOST_TEST(merged(minimum(), a, b) == (Floats{1, 0, -3, -1}));
  BOOST_TEST(merged(add(), a, b) == (Floats{6, 2, -2, 3}));
  BOOST_TEST(merged(average(), a, b) == (Floats{3, 1, -1, 1.5F}));
}

BOOST_AUTO_TEST_CASE(a_dot_product_is_of_vectors_or_of_all_their_pairs) {
  BOOST_TEST(merged(dot(), a, b) == (Floats{5, -7}));
  BOOST_TEST(merged(dot(1), a, b) == (Floats{5, -7}));
  const Floats cosines = merged(dot(-1, true), a, b);
  BOOST_TEST(std::abs(cosines[0] - 1 / std::sqrt(5.F)) < 1e-6F);
  BOOST_TEST(std::abs(cosines[1] + 7 / (5 * std::sqrt(2.F))) < 1e-6F);
  // Rows (1, 2) and (3, 4) by (1, 0), (0, 1) and (1, 1); then columns.
  const Tensor two = Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4});
  const Tensor three = Tensor::of<float>({1, 3, 2}, {1, 0, 0, 1, 1, 1});
  BOOST_TEST(merged(dot(), two, three) == (Floats{1, 2, 3, 3, 4, 7}));
  const Tensor columns = Tensor::of<float>({1, 2, 3}, {1, 0, 1, 0, 1, 1});
  BOOST_TEST(merged(dot(1), two, columns) == (Floats{1, 3, 4, 2, 4, 6}));
}

BOOST_AUTO_TEST_CASE(inputs_that_cannot_be_merged_are_refused) {
  const Tensor longer = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  BOOST_CHECK_EXCEPTION(merged(dot(), a, longer), Error, says("one length along axis 1"));
  BOOST_CHECK_EXCEPTION(merged(dot(0), a, b), Error, says("but the batch's"));
  BOOST_CHECK_EXCEPTION(merged(dot(2), a, b), Error, says("but the batch's"));
  const SymbolicTensor x = input({2});
  BOOST_CHECK_EXCEPTION(Model({x}, {subtract()({x, x, x})}).build(), Error,
                        says("expected two inputs, got 3"));
  BOOST_CHECK_EXCEPTION(Model({x}, {maximum()(x)}).build(), Error, says("two inputs or more, got 1"));
}

BOOST_AUTO_TEST_SUITE_END()
