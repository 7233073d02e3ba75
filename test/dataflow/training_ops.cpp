#include "dataflow/ops/training_ops.h"

#include <boost/test/unit_test.hpp>

#include "dataflow/graph/graph.h"
#include "test/dataflow/expect.h"

BOOST_AUTO_TEST_SUITE(training_ops)

using namespace actorflow;
using test::invalid_with;

namespace {

const Attrs update = {{"variable", "w"},
                      {"optimizer", "sgd"},
                      {"hyperparameters", std::vector<double>{0.1}},
                      {"skip_not_finite", false}};

Attrs with(Attrs attrs, const Attrs& others) {
  for (const auto& [name, value] : others) attrs[name] = value;
  return attrs;
}

const Attrs at_once = with(update, {{"replica", std::int64_t{1}}, {"train_op", "train"}});

Attrs token_attrs(std::int64_t aggregate, std::int64_t total, std::int64_t tokens) {
  return {{"variable", "global_step"},       {"replica", std::int64_t{0}},
          {"accumulators", std::int64_t{2}}, {"replicas_to_aggregate", aggregate},
          {"total_num_replicas", total},     {"initial_tokens", tokens}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(updates_are_checked) {
  Graph g;
  const Output gradient = g.constant(1.0F), serial = g.constant(std::int64_t{-1});
  BOOST_TEST(g.add(apply_gradient_op(), {gradient, serial}, at_once).node().outputs.empty());
  BOOST_CHECK_EXCEPTION(g.add(apply_gradient_op(), {g.constant(1), serial}, at_once), Error,
                        invalid_with({"float32 or float64", "int32[]"}));
  BOOST_CHECK_EXCEPTION(
      g.add(apply_gradient_op(), {gradient, serial}, with(at_once, {{"optimizer", ""}})), Error,
      invalid_with({"(ApplyGradient)", "needs a name"}));
  BOOST_CHECK_EXCEPTION(g.add(apply_gradient_op(), {gradient, gradient}, at_once), Error,
                        invalid_with({"input 1 of int64"}));
  BOOST_CHECK_EXCEPTION(
      g.add(apply_gradient_op(), {gradient, serial}, with(at_once, {{"replica", std::int64_t{-1}}})),
      Error, invalid_with({"a replica, 0 or more", "-1"}));
  BOOST_CHECK_EXCEPTION(
      g.add(apply_gradient_op(), {gradient, serial}, with(at_once, {{"optimizer", "adam"}})), Error,
      invalid_with({"'adam' has 4 hyperparameters, got 1"}));
}

BOOST_AUTO_TEST_CASE(an_accumulated_gradient_carries_its_local_step) {
  Graph g;
  const auto attrs = with(update, {{"replica", std::int64_t{1}},
                                   {"replicas_to_aggregate", std::int64_t{2}},
                                   {"total_num_replicas", std::int64_t{2}},
                                   {"coordinator", "/job:ps/task:0"},
                                   {"global_step", "global_step"}});
  const Output gradient = g.constant(1.0F), step = g.constant(std::int64_t{0});
  const Output half = g.constant(0.5);
  BOOST_TEST(g.add(accumulate_gradient_op(), {gradient, step, step}, attrs).type().to_string() ==
             "bool[]");
  BOOST_CHECK_EXCEPTION(g.add(accumulate_gradient_op(), {gradient, gradient, step}, attrs), Error,
                        invalid_with({"input 1 of int64"}));
  g.add(accumulate_gradient_op(), {gradient, step, step, half}, attrs);
  BOOST_CHECK_EXCEPTION(g.add(accumulate_gradient_op(), {gradient, step, step, step}, attrs), Error,
                        invalid_with({"learning rate of float32 or float64", "int64[]"}));
  BOOST_CHECK_EXCEPTION(g.add(accumulate_gradient_op(), {gradient, step, step},
                              with(attrs, {{"replica", std::int64_t{2}}})),
                        Error, invalid_with({"replica 2 of 2"}));
}

BOOST_AUTO_TEST_CASE(too_few_initial_tokens_are_refused) {
  Graph g;
  const Output zero = g.constant(std::int64_t{0});
  BOOST_TEST(g.add(take_token_op(), {zero, zero}, token_attrs(3, 3, 0)).type().to_string() == "int64[]");
  BOOST_TEST(g.add(take_token_op(), {zero, zero}, token_attrs(5, 3, 2)).type().to_string() == "int64[]");
  BOOST_CHECK_EXCEPTION(g.add(take_token_op(), {zero, zero}, token_attrs(5, 3, 1)), Error,
                        invalid_with({"at least 2 initial_tokens", "got 1"}));
  BOOST_CHECK_EXCEPTION(g.add(take_token_op(), {zero, zero}, token_attrs(0, 3, 1)), Error,
                        invalid_with({"replicas_to_aggregate of 1 or more"}));
}

BOOST_AUTO_TEST_CASE(rows_of_a_gradient_have_an_index_each) {
  Graph g;
  const auto rows = [&](const Shape& shape) { return g.placeholder(DType::float32, shape); };
  const auto indices = [&](const Shape& shape) { return g.placeholder(DType::int64, shape); };
  const auto apply = [&](std::vector<Output> inputs) {
    inputs.insert(inputs.begin(), g.constant(std::int64_t{-1}));
    return g.add(apply_sparse_gradient_op(), inputs, at_once);
  };
  apply({rows({2, 3}), indices({2}), rows({-1, 3}), indices({-1})});
  apply({rows({2, 3}), indices({2}), g.constant(0.5F)});  // with a learning rate
  BOOST_CHECK_EXCEPTION(apply({rows({2, 3}), indices({3})}), Error,
                        invalid_with({"an index for each row", "float32[2,3]", "int64[3]"}));
  BOOST_CHECK_EXCEPTION(apply({rows({}), indices({1})}), Error, invalid_with({"rows of a gradient"}));
  BOOST_CHECK_EXCEPTION(apply({rows({2, 3}), g.placeholder(DType::int32, {2})}), Error,
                        invalid_with({"int64", "int32[2]"}));
  BOOST_CHECK_EXCEPTION(apply({indices({2}), indices({2})}), Error,
                        invalid_with({"a gradient of float32 or float64"}));
  BOOST_CHECK_EXCEPTION(apply({rows({2, 3}), indices({2}), rows({2})}), Error,
                        invalid_with({"rank", "float32[2]"}));
}

BOOST_AUTO_TEST_SUITE_END()
