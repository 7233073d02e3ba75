#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "dataflow/graph/graph.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "kernels/products/onednn_matmul.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/teams.h"

BOOST_AUTO_TEST_SUITE(matmul)

using namespace actorflow;
using actorflow::test::run_kernel;

namespace {

Tensor matrix(DType dtype, std::int64_t rows, std::int64_t columns, double seed) {
  Tensor tensor = Tensor::allocate(dtype, {rows, columns});
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = std::sin(seed + 1.7 * static_cast<double>(i));
    if (dtype == DType::float32)
      tensor.mutable_values<float>()[static_cast<std::size_t>(i)] = static_cast<float>(value);
    else
      tensor.mutable_values<double>()[static_cast<std::size_t>(i)] = value;
  }
  return tensor;
}

double at(const Tensor& tensor, std::int64_t row, std::int64_t column) {
  const auto i = static_cast<std::size_t>(row * tensor.shape()[1] + column);
  return tensor.dtype() == DType::float32 ? static_cast<double>(tensor.values<float>()[i])
                                          : tensor.values<double>()[i];
}

// A MatMul node with open shapes, so that one kernel sees matrices of several sizes.
struct MatMulNode {
  MatMulNode(DType dtype, bool transpose_a, bool transpose_b) {
    const Output a = graph.placeholder(dtype, Shape::unknown_rank());
    const Output b = graph.placeholder(dtype, Shape::unknown_rank());
    node = &actorflow::matmul(a, b, transpose_a, transpose_b).node();
  }
  Tensor operator()(const Tensor& a, const Tensor& b) const {
    return run_kernel(*node, {a, b}, cpu_device())[0];
  }

  Graph graph;
  const Node* node;
};

void check_product(DType dtype, std::int64_t m, std::int64_t k, std::int64_t n, bool ta, bool tb) {
  const Tensor a = ta ? matrix(dtype, k, m, 1) : matrix(dtype, m, k, 1);
  const Tensor b = tb ? matrix(dtype, n, k, 2) : matrix(dtype, k, n, 2);
  const Tensor product = MatMulNode(dtype, ta, tb)(a, b);
  BOOST_TEST_REQUIRE(product.shape().to_string() == Shape({m, n}).to_string());
  const double tolerance = (dtype == DType::float32 ? 1e-6 : 1e-14) * static_cast<double>(k + 1);
  double worst = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double expected = 0;
      for (std::int64_t p = 0; p < k; ++p)
        expected += (ta ? at(a, p, i) : at(a, i, p)) * (tb ? at(b, j, p) : at(b, p, j));
      worst = std::max(worst, std::abs(at(product, i, j) - expected));
    }
  BOOST_TEST(worst <= tolerance);
}

struct Size {
  std::int64_t m, k, n;
};
const std::vector<Size> sizes = {{1, 1, 1}, {3, 4, 5}, {1, 200, 7}, {64, 130, 65}, {100, 3, 1}};
// By columns, by rows, in two halves of few rows, and by inner indices.
const std::vector<Size> divided_sizes = {{70, 150, 800}, {900, 60, 100}, {65, 500, 130}, {65, 801, 90}};

}  // namespace

BOOST_AUTO_TEST_CASE(products_of_all_transpositions_and_types_are_right) {
  for (const DType dtype : {DType::float32, DType::float64})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const auto& [m, k, n] : sizes)
          BOOST_TEST_CONTEXT(to_string(dtype) << " " << m << "x" << k << "x" << n << " " << ta << tb)
  check_product(dtype, m, k, n, ta, tb);
}

BOOST_AUTO_TEST_CASE(products_that_are_divided_are_right) {
  for (const auto& [m, k, n] : divided_sizes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        BOOST_TEST(MatMulParts({m, k, n, ta, tb}).count() > 1);
        check_product(DType::float32, m, k, n, ta, tb);
      }
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_product_cover_it_once) {
  for (const auto& [m, k, n] : divided_sizes)
    for (const bool tb : {false, true}) {
      const MatMulParts parts({m, k, n, false, tb});
      std::vector<std::int64_t> covered(static_cast<std::size_t>(m * n));
      for (int part = 0; part < parts.count(); ++part) {
        const MatMulBlock block = parts.block(part);
        BOOST_TEST((block.inner == k || parts.are_terms()));
        for (std::int64_t i = block.first_row; i < block.first_row + block.rows; ++i)
          for (std::int64_t j = block.first_column; j < block.first_column + block.columns; ++j)
            covered[static_cast<std::size_t>(i * n + j)] += block.inner;
      }
      BOOST_TEST(std::ranges::count(covered, k) == m * n);
    }
}

BOOST_AUTO_TEST_CASE(a_team_computes_the_same_bits) {
  const MatMulNode node(DType::float32, false, false);
  for (const auto& [m, k, n] : divided_sizes) {
    const Tensor a = matrix(DType::float32, m, k, 1), b = matrix(DType::float32, k, n, 2);
    test::ThreadPerPart team;
    std::vector<Tensor> inputs{a, b}, outputs(1);
    OpContext context(*node.node, cpu_device(), inputs, outputs, &team);
    builtin_ops().make(*node.node, DeviceType::cpu)->compute(context);
    BOOST_TEST(team.most_parts > 1);
    BOOST_TEST(identical(outputs[0], node(a, b)));
  }
}

BOOST_AUTO_TEST_CASE(an_empty_inner_dimension_gives_zeros) {
  for (const DType dtype : {DType::float32, DType::float64}) check_product(dtype, 2, 0, 3, false, false);
}

BOOST_AUTO_TEST_CASE(empty_outer_dimensions_give_an_empty_product) {
  check_product(DType::float32, 0, 4, 3, false, false);
  check_product(DType::float32, 4, 3, 0, true, true);
}

BOOST_AUTO_TEST_CASE(one_kernel_multiplies_matrices_of_changing_shapes) {
  const MatMulNode node(DType::float32, false, false);
  const auto kernel = builtin_ops().make(*node.node, DeviceType::cpu);
  for (int round = 0; round < 2; ++round)
    for (std::int64_t rows = 1; rows <= 12; ++rows) {  // more shapes than the kernel keeps primitives
      std::vector<Tensor> inputs = {matrix(DType::float32, rows, 5, 1), matrix(DType::float32, 5, 3, 2)};
      std::vector<Tensor> outputs(1);
      OpContext context(*node.node, cpu_device(), inputs, outputs);
      kernel->compute(context);
      BOOST_TEST(identical(outputs[0], node(inputs[0], inputs[1])));
    }
}

BOOST_AUTO_TEST_CASE(threads_that_share_a_kernel_get_the_same_bits) {
  const MatMulNode node(DType::float32, true, false);
  const auto kernel = builtin_ops().make(*node.node, DeviceType::cpu);
  const Tensor a = matrix(DType::float32, 300, 90, 1), b = matrix(DType::float32, 300, 70, 2);
  const Tensor expected = node(a, b);
  std::vector<int> different(4, 0);
  std::vector<std::thread> threads;
  for (auto& count : different)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        std::vector<Tensor> inputs = {a, b}, outputs(1);
        OpContext context(*node.node, cpu_device(), inputs, outputs);
        kernel->compute(context);
        count += !identical(outputs[0], expected);
      }
    });
  for (auto& thread : threads) thread.join();
  for (const int count : different) BOOST_TEST(count == 0);
}

BOOST_AUTO_TEST_CASE(a_kernel_made_on_a_thread_that_ended_goes_on_elsewhere) {
  const MatMulNode node(DType::float32, false, true);
  const auto kernel = builtin_ops().make(*node.node, DeviceType::cpu);
  const Tensor a = matrix(DType::float32, 64, 50, 1), b = matrix(DType::float32, 40, 50, 2);
  const auto multiply = [&] {
    std::vector<Tensor> inputs = {a, b}, outputs(1);
    OpContext context(*node.node, cpu_device(), inputs, outputs);
    kernel->compute(context);
    return outputs[0];
  };
  Tensor first;
  std::thread([&] { first = multiply(); }).join();
  BOOST_TEST(identical(multiply(), first));
}

BOOST_AUTO_TEST_CASE(inner_dimensions_that_differ_are_refused_by_name) {
  const auto says_both = [](const Error& error) {
    const std::string message = error.what();
    return error.code() == Code::invalid_argument && message.find("MatMul") != message.npos &&
           message.find("float32[2,3]") != message.npos && message.find("float32[4,5]") != message.npos;
  };
  Graph graph;
  const Output a = graph.placeholder(DType::float32, {2, 3}),
               b = graph.placeholder(DType::float32, {4, 5});
  BOOST_CHECK_EXCEPTION(actorflow::matmul(a, b), Error, says_both);

  const MatMulNode open(DType::float32, false, false);  // found out only when the matrices are there
  BOOST_CHECK_EXCEPTION(open(matrix(DType::float32, 2, 3, 1), matrix(DType::float32, 4, 5, 1)), Error,
                        says_both);
}

BOOST_AUTO_TEST_CASE(integers_and_mixed_types_are_refused) {
  Graph graph;
  const Output floats = graph.placeholder(DType::float32, {2, 2});
  const Output doubles = graph.placeholder(DType::float64, {2, 2});
  const Output integers = graph.placeholder(DType::int32, {2, 2});
  BOOST_CHECK_THROW(actorflow::matmul(floats, doubles), Error);
  BOOST_CHECK_THROW(actorflow::matmul(integers, integers), Error);
}

BOOST_AUTO_TEST_CASE(unknown_dimensions_stay_open) {
  Graph graph;
  const Output a = graph.placeholder(DType::float32, {Shape::unknown, 3});
  const Output b = graph.placeholder(DType::float32, {3, 4});
  BOOST_TEST(actorflow::matmul(a, b).type().to_string() == "float32[?,4]");
}

BOOST_AUTO_TEST_SUITE_END()
