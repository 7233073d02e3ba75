#include <boost/test/unit_test.hpp>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(bias)

using namespace actorflow;
using actorflow::test::interpret;

namespace {

// The gradient of sum(x + bias) towards the bias: the number of rows.
Tensor count_rows(std::int64_t rows, std::int64_t columns) {
  Graph graph;
  const Output x = graph.constant(Tensor::zeros(DType::float32, {rows, columns}));
  const Output bias = graph.constant(Tensor::zeros(DType::float32, {columns}));
  const Output gradient = gradients(sum(bias_add(x, bias)), {bias})[0];
  return interpret(graph.def(), {}, {gradient})[0];
}

}  // namespace

BOOST_AUTO_TEST_CASE(long_columns_are_summed_up_without_loss) {
  const std::int64_t rows = (1 << 24) + 10;  // in float32 2^24 + 1 is 2^24
  const Tensor counts = count_rows(rows, 1);
  BOOST_TEST(counts.scalar<float>() == static_cast<float>(rows));
}

BOOST_AUTO_TEST_CASE(wide_rows_are_summed_up_block_by_block) {
  const Tensor counts = count_rows(3, 1300);
  BOOST_TEST(counts.describe() == "float32[1300]");
  for (const float count : counts.values<float>()) BOOST_TEST(count == 3);
}

BOOST_AUTO_TEST_CASE(empty_batches_and_empty_rows_pass) {
  BOOST_TEST(count_rows(0, 3).values<float>()[2] == 0);
  BOOST_TEST(count_rows(3, 0).describe() == "float32[0]");
}

BOOST_AUTO_TEST_CASE(a_bias_of_another_length_is_refused) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {4, 3});
  BOOST_CHECK_THROW(bias_add(x, graph.placeholder(DType::float32, {4})), Error);
  BOOST_CHECK_THROW(bias_add(x, graph.placeholder(DType::float64, {3})), Error);
  BOOST_CHECK_THROW(bias_add(x, graph.placeholder(DType::float32, {3, 1})), Error);
}

BOOST_AUTO_TEST_SUITE_END()
