#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"

BOOST_AUTO_TEST_SUITE(softmax)

using namespace actorflow;
using actorflow::test::interpret;
using actorflow::test::run_kernel;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

Tensor row_of(const std::vector<float>& values) {
  return Tensor::of<float>({1, static_cast<std::int64_t>(values.size())}, values);
}

std::vector<float> apply(Output (*op)(Output), const Tensor& x) {
  Graph graph;
  const Output output = op(graph.constant(x));
  const Tensor result = interpret(graph.def(), {}, {output})[0];
  const auto values = result.values<float>();
  return {values.begin(), values.end()};
}

// Loss and backprop.
std::vector<Tensor> cross_entropy(const Tensor& logits, const Tensor& labels) {
  Graph graph;
  const Output loss = softmax_cross_entropy(graph.placeholder(logits.dtype(), Shape::unknown_rank()),
                                            graph.placeholder(labels.dtype(), Shape::unknown_rank()));
  return run_kernel(loss.node(), {logits, labels}, cpu_device());
}

}  // namespace

BOOST_AUTO_TEST_CASE(huge_logits_neither_overflow_nor_vanish) {
  const auto probabilities = apply(actorflow::softmax, row_of({3e38F, 3e38F, -3e38F}));
  BOOST_TEST(probabilities == (std::vector<float>{0.5F, 0.5F, 0}));
  const auto logs = apply(actorflow::log_softmax, row_of({1000, 0}));
  BOOST_TEST(logs == (std::vector<float>{0, -1000}));
}

BOOST_AUTO_TEST_CASE(a_logit_of_minus_infinity_has_probability_zero) {
  const auto probabilities = apply(actorflow::softmax, row_of({1, -infinity, 1}));
  BOOST_TEST(probabilities == (std::vector<float>{0.5F, 0, 0.5F}));
}

BOOST_AUTO_TEST_CASE(nan_spreads_over_its_row_and_no_further) {
  const auto x = Tensor::of<float>({2, 2}, {0, std::nanf(""), 1, 1});
  const auto probabilities = apply(actorflow::softmax, x);
  BOOST_TEST(std::isnan(probabilities[0]));
  BOOST_TEST(std::isnan(probabilities[1]));
  BOOST_TEST(probabilities[2] == 0.5F);
}

BOOST_AUTO_TEST_CASE(rows_without_columns_stay_empty) {
  BOOST_TEST(apply(actorflow::softmax, Tensor::of<float>({3, 0}, {})).empty());
  BOOST_TEST(apply(actorflow::log_softmax, Tensor::of<float>({0, 3}, {})).empty());
}

BOOST_AUTO_TEST_CASE(the_loss_of_a_certain_and_wrong_prediction_is_finite) {
  const auto outputs = cross_entropy(row_of({1000, 0}), Tensor::of<std::int32_t>({1}, {1}));
  BOOST_TEST(outputs[0].scalar<float>() == 1000);
  BOOST_TEST(outputs[1].values<float>()[0] == 1);
  BOOST_TEST(outputs[1].values<float>()[1] == -1);
}

BOOST_AUTO_TEST_CASE(an_empty_batch_has_no_loss) {
  const auto outputs = cross_entropy(Tensor::of<float>({0, 10}, {}), Tensor::of<std::int64_t>({0}, {}));
  BOOST_TEST(outputs[0].describe() == "float32[0]");
  BOOST_TEST(outputs[1].describe() == "float32[0,10]");
}

BOOST_AUTO_TEST_CASE(logits_that_nobody_else_holds_give_their_memory_to_the_result) {
  const Tensor logits = Tensor::of<float>({2, 3}, {1, 2, 3, 3, 1, 2});
  const Tensor labels = Tensor::of<std::int32_t>({2}, {2, 1});
  const auto kept = cross_entropy(logits, labels);
  const auto given_away = cross_entropy(logits.clone(), labels);
  BOOST_TEST(identical(kept[0], given_away[0]));
  BOOST_TEST(identical(kept[1], given_away[1]));
  BOOST_TEST(logits.values<float>()[0] == 1);
}

BOOST_AUTO_TEST_CASE(a_label_outside_the_classes_is_named_with_its_row) {
  const Tensor logits = Tensor::of<float>({3, 2}, {0, 0, 0, 0, 0, 0});
  for (const std::int64_t wrong : {-1, 2}) {
    const auto names_it = [wrong](const Error& error) {
      const std::string message = error.what();
      return error.code() == Code::invalid_argument &&
             message.find("label " + std::to_string(wrong) + " in row 1") != message.npos &&
             message.find("2 classes") != message.npos;
    };
    const auto as_int64 = Tensor::of<std::int64_t>({3}, {0, wrong, 1});
    const auto as_int32 = Tensor::of<std::int32_t>({3}, {0, static_cast<std::int32_t>(wrong), 1});
    BOOST_CHECK_EXCEPTION(cross_entropy(logits, as_int64), Error, names_it);
    BOOST_CHECK_EXCEPTION(cross_entropy(logits, as_int32), Error, names_it);
  }
}

BOOST_AUTO_TEST_CASE(labels_of_another_number_or_type_are_refused) {
  Graph graph;
  const Output logits = graph.placeholder(DType::float32, {4, 10});
  const auto with_labels = [&](DType dtype, const Shape& shape) {
    return softmax_cross_entropy(logits, graph.placeholder(dtype, shape));
  };
  BOOST_CHECK_THROW(with_labels(DType::int32, {5}), Error);
  BOOST_CHECK_THROW(with_labels(DType::float32, {4}), Error);
  BOOST_CHECK_THROW(with_labels(DType::int32, {4, 10}), Error);
  BOOST_CHECK_THROW(
      cross_entropy(Tensor::of<float>({1, 2}, {0, 0}), Tensor::of<std::int32_t>({2}, {0, 0})), Error);
}

BOOST_AUTO_TEST_CASE(unknown_dimensions_are_filled_in_from_the_labels) {
  Graph graph;
  const Output loss = softmax_cross_entropy(graph.placeholder(DType::float32, {Shape::unknown, 10}),
                                            graph.placeholder(DType::int32, {32}));
  BOOST_TEST(loss.type().to_string() == "float32[32]");
  BOOST_TEST(loss.output(1).type().to_string() == "float32[32,10]");
}

BOOST_AUTO_TEST_SUITE_END()
