// einsum() against loops over all labels, written plainly here, and its gradients against differences.
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <random>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/reference.h"

BOOST_AUTO_TEST_SUITE(einsum_equations)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// The equation's value: for each combination of all labels the product is added where it belongs.
Array reference(const std::string& equation, const Arrays& in) {
  const auto arrow = equation.find("->");
  std::vector<std::string> terms(1);
  for (const char c : equation.substr(0, arrow))
    if (c == ',')
      terms.emplace_back();
    else
      terms.back() += c;
  const std::string result = equation.substr(arrow + 2);
  std::map<char, std::int64_t> lengths, value;
  for (std::size_t t = 0; t < terms.size(); ++t)
    for (std::size_t i = 0; i < terms[t].size(); ++i)
      lengths[terms[t][i]] = in[t].shape[static_cast<int>(i)];
  Shape all, shape;
  for (const auto& [label, length] : lengths) all.push_back(length);
  for (const char label : result) shape.push_back(lengths[label]);
  const auto index_of = [&](const std::string& term) {
    Index index;
    for (const char label : term) index.push_back(value[label]);
    return index;
  };
  std::map<Index, double> sums;
  array_of(all, [&](const Index& place) {
    std::size_t next = 0;
    for (const auto& [label, length] : lengths) value[label] = place[next++];
    double product = 1;
    for (std::size_t t = 0; t < terms.size(); ++t) product *= at(in[t], index_of(terms[t]));
    sums[index_of(result)] += product;
    return 0.0;
  });
  return array_of(shape, [&](const Index& i) { return sums[i]; });
}

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  std::uniform_real_distribution<double> distribution(-1, 1);
  Tensor tensor = Tensor::allocate(DType::float64, shape);
  for (double& value : tensor.mutable_values<double>()) value = distribution(random);
  return tensor;
}

struct Case {
  std::string equation;
  std::vector<Shape> shapes;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"ij,jk->ik", {{2, 3}, {3, 4}}},
      {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
      {"bij,bkj->bki", {{2, 3, 4}, {2, 5, 4}}},
      {"bthd,bshd->bhts", {{2, 3, 2, 4}, {2, 5, 2, 4}}},
      {"bhts,bshd->bthd", {{2, 2, 3, 5}, {2, 5, 2, 4}}},
      {"btc,chd->bthd", {{2, 3, 4}, {4, 2, 3}}},
      {"bthd,hdc->btc", {{2, 3, 2, 4}, {2, 4, 3}}},
      {"ij->ji", {{2, 3}}},
      {"ij->", {{2, 3}}},
      {"ijk->kj", {{2, 3, 4}}},
      {"i,i->", {{3}, {3}}},
      {"i,j->ij", {{3}, {2}}},
      {"bi,bi->b", {{2, 3}, {2, 3}}},
      {"ij,ij->ij", {{2, 3}, {2, 3}}},
      {"ij,j->i", {{2, 3}, {3}}},
      {"ijl,jk->ik", {{2, 3, 2}, {3, 4}}},
      {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},
      {"ij,jk,ik->", {{2, 3}, {3, 4}, {2, 4}}},
  };
  return all;
}

struct Problem {
  explicit Problem(const Case& c) {
    std::mt19937 random(5);
    for (const Shape& shape : c.shapes) {
      operands.push_back(graph.placeholder(DType::float64, shape));
      feeds[operands.back().edge.node] = random_tensor(shape, random);
      arrays.push_back(to_array(feeds[operands.back().edge.node]));
    }
    result = einsum(c.equation, operands);
  }

  Graph graph;
  std::vector<Output> operands;
  Feeds feeds;
  Arrays arrays;
  Output result;
};

bool near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

auto invalid_with(const std::string& part) {
  return [part](const Error& error) {
    return error.code() == Code::invalid_argument &&
           std::string(error.what()).find(part) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(results_agree_with_plain_loops) {
  for (const Case& c : cases()) {
    BOOST_TEST_CONTEXT(c.equation) {
      Problem p(c);
      const Array expected = reference(c.equation, p.arrays);
      const Tensor actual = interpret(p.graph.def(), p.feeds, {p.result})[0];
      BOOST_TEST(p.result.shape().to_string() == expected.shape.to_string());
      BOOST_TEST_REQUIRE(actual.shape().to_string() == expected.shape.to_string());
      for (std::int64_t i = 0; i < actual.elements(); ++i)
        BOOST_TEST(near(actual.values<double>()[static_cast<std::size_t>(i)], expected[i], 1e-12));
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_agree_with_differences) {
  for (const Case& c : cases()) {
    BOOST_TEST_CONTEXT(c.equation) {
      Problem p(c);
      const Output loss = sum(square(p.result));
      const auto by_operand = gradients(loss, p.operands);
      for (std::size_t o = 0; o < p.operands.size(); ++o) {
        const NodeId node = p.operands[o].edge.node;
        const Tensor gradient = interpret(p.graph.def(), p.feeds, {by_operand[o]})[0];
        for (std::size_t i = 0; i < static_cast<std::size_t>(gradient.elements()); ++i) {
          double losses[2];
          for (const int side : {0, 1}) {
            Feeds feeds = p.feeds;
            feeds[node] = p.feeds[node].clone();
            feeds[node].mutable_values<double>()[i] += side == 0 ? -1e-5 : 1e-5;
            losses[side] = interpret(p.graph.def(), feeds, {loss})[0].scalar<double>();
          }
          BOOST_TEST(near(gradient.values<double>()[i], (losses[1] - losses[0]) / 2e-5, 1e-6));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_ellipsis_stands_for_leading_dimensions) {
  Graph g;
  std::mt19937 random(3);
  const Output a = g.constant(random_tensor({5, 1, 2, 3}, random)),
               b = g.constant(random_tensor({4, 3, 2}, random));
  const Output spelt = batch_matmul(a, b), short_form = einsum("...ij,...jk->...ik", {a, b});
  const auto values = interpret(g.def(), {}, {spelt, short_form, einsum("...ij->...ji", {b})});
  BOOST_TEST(identical(values[0], values[1]));
  BOOST_TEST(values[2].describe() == "float64[4,2,3]");
}

BOOST_AUTO_TEST_CASE(a_result_that_is_left_out_has_the_labels_that_occur_once) {
  Graph g;
  std::mt19937 random(3);
  const Output a = g.constant(random_tensor({2, 3}, random)),
               b = g.constant(random_tensor({3, 4}, random));
  const auto values = interpret(g.def(), {}, {einsum("ij,jk", {a, b}), matmul(a, b), einsum("ba", {a})});
  BOOST_TEST(values[0].describe() == "float64[2,4]");
  BOOST_TEST(near(values[0].values<double>()[3], values[1].values<double>()[3], 1e-12));
  BOOST_TEST(values[2].describe() == "float64[3,2]");
}

BOOST_AUTO_TEST_CASE(integers_are_summed_exactly) {
  Graph g;
  const Output a = g.constant({{1, 2}, {3, 4}});
  const Tensor product = interpret(g.def(), {}, {einsum("ij,jk->ik", {a, a})})[0];
  const std::vector<int> expected = {7, 10, 15, 22};
  BOOST_TEST(std::vector<int>(product.values<int>().begin(), product.values<int>().end()) == expected,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(dimensions_may_be_unknown) {
  Graph g;
  const Output q = g.placeholder(DType::float32, {-1, -1, 2, 4});
  const Output scores = einsum("bthd,bshd->bhts", {q, q});
  BOOST_TEST(scores.type().to_string() == "float32[?,2,?,?]");
  const Output w = g.constant(Tensor::zeros(DType::float32, {2, 4, 3}));
  const Output fixed = g.placeholder(DType::float32, {-1, 5, 2, 4});
  BOOST_TEST(einsum("bthd,hdc->btc", {fixed, w}).type().to_string() == "float32[?,5,3]");
  BOOST_CHECK_EXCEPTION(einsum("bthd,hdc->btc", {q, w}), Error, invalid_with("at most one axis"));
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  Graph g;
  const Output a = g.constant({{1.0, 2.0}, {3.0, 4.0}}), b = g.constant({{1.0, 2.0, 3.0}});
  BOOST_CHECK_EXCEPTION(einsum("ij,jk->ik", {a}), Error, invalid_with("2 operands, but 1"));
  BOOST_CHECK_EXCEPTION(einsum("ijk->ik", {a}), Error, invalid_with("labels for 3 axes"));
  BOOST_CHECK_EXCEPTION(einsum("ij,jk->ik", {a, b}), Error,
                        invalid_with("axis 0 must have the length 2"));
  BOOST_CHECK_EXCEPTION(einsum("ii->i", {a}), Error, invalid_with("'i' is twice"));
  BOOST_CHECK_EXCEPTION(einsum("ij->ik", {a}), Error, invalid_with("no operand has"));
  BOOST_CHECK_EXCEPTION(einsum("i1->i", {a}), Error, invalid_with("got '1'"));
  BOOST_CHECK_EXCEPTION(einsum("ij->ij", {Output()}), Error, invalid_with("empty Output"));
}

BOOST_AUTO_TEST_SUITE_END()
