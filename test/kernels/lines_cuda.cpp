// Ops that a GPU computes by sorting or by dividing long lines: against the CPU, with ties, NaN, zeros
// of both signs, and lines of many lengths. Skipped, visibly, without a GPU.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "test/kernels/support/interpreter.h"
#include "test/support/has_gpu.h"
#include "test/support/status_of.h"

BOOST_AUTO_TEST_SUITE(lines_cuda, *boost::unit_test::precondition(actorflow::test::has_gpu))

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Outputs = std::vector<Output>;
using Build = std::function<Outputs(const Outputs&)>;

std::vector<Tensor> computed(const Build& build, const std::vector<Tensor>& inputs, Device& device) {
  Graph graph;
  Outputs placeholders;
  Feeds feeds;
  for (const Tensor& input : inputs) {
    placeholders.push_back(graph.placeholder(input.dtype(), input.shape()));
    feeds[placeholders.back().edge.node] = input;
  }
  return interpret(graph.def(), feeds, build(placeholders), device);
}

// As on a CPU, bit for bit.
void check_identical(const Build& build, const std::vector<Tensor>& inputs) {
  const auto cpu = computed(build, inputs, cpu_device()), gpu = computed(build, inputs, cuda_device(0));
  for (std::size_t i = 0; i < cpu.size(); ++i) BOOST_TEST(identical(gpu[i], cpu[i]), "output " << i);
}

// Within `relative` of the CPU's element, and NaN or infinite where that is.
template <class T>
void check_near(const Build& build, const std::vector<Tensor>& inputs, double relative) {
  const Tensor cpu = computed(build, inputs, cpu_device())[0];
  const Tensor gpu = computed(build, inputs, cuda_device(0))[0];
  BOOST_TEST_REQUIRE(gpu.describe() == cpu.describe());
  const auto expected = cpu.values<T>(), actual = gpu.values<T>();
  const auto is_near = [&](std::size_t i) {
    if (!std::isfinite(expected[i]))
      return actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]));
    return std::abs(actual[i] - expected[i]) <= relative * std::max<T>(1, std::abs(expected[i]));
  };
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!is_near(i)) {
      BOOST_ERROR("element " << i << " is " << actual[i] << " on the GPU, " << expected[i]);
      return;
    }
}

template <class T>
std::vector<T> few_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0, 1, -1, 2, -7, Limits::max(), Limits::lowest()};
  if constexpr (std::is_floating_point_v<T>)
    for (const T value : {T(-0.0), Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(),
                          -Limits::infinity(), Limits::denorm_min(), T(0.5)})
      values.push_back(value);
  return values;
}

// Values chosen from a list, which therefore come many times.
template <class T>
Tensor chosen_from(const std::vector<T>& values, const Shape& shape) {
  std::mt19937 random(7);
  Tensor tensor = Tensor::allocate(dtype_of<T>, shape);
  for (T& value : tensor.mutable_values<T>()) value = values[random() % values.size()];
  return tensor;
}

template <class T>
Tensor numbers(const Shape& shape, std::int64_t low, std::int64_t high) {
  std::mt19937 random(11);
  std::uniform_int_distribution<std::int64_t> distribution(low, high);
  Tensor tensor = Tensor::allocate(dtype_of<T>, shape);
  for (T& value : tensor.mutable_values<T>()) value = static_cast<T>(distribution(random));
  return tensor;
}

Build top(std::int64_t k) {
  return [k](const Outputs& in) {
    const TopK found = top_k(in[0], k);
    return Outputs{found.values, found.indices};
  };
}

template <class T>
void check_top() {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 1},
                                      {0, 3},
                                      {3, 7},
                                      {100, 31},
                                      {5, 1000},
                                      {1, 33'333},
                                      {257, 129}})
    for (const std::int64_t k : {std::int64_t{1}, (columns + 1) / 2, columns})
      BOOST_TEST_CONTEXT(rows << " rows of " << columns << ", k " << k) {
        check_identical(top(k), {chosen_from<T>(few_values<T>(), {rows, columns})});
        check_identical(top(k), {numbers<T>({rows, columns}, -1'000'000, 1'000'000)});
      }
}

Build running(std::int64_t axis, bool exclusive, bool reverse) {
  return [=](const Outputs& in) { return Outputs{cumsum(in[0], axis, exclusive, reverse)}; };
}

// Calls check(shape, sums) for lines of many lengths, rows and columns, in each direction.
void for_all_running_sums(const std::function<void(const Shape&, const Build&)>& check) {
  for (const auto& [shape, axis] : {std::pair<Shape, std::int64_t>{{1}, 0},
                                    {{64}, 0},
                                    {{1025}, 0},
                                    {{8191}, 0},
                                    {{8192}, 0},
                                    {{100'003}, 0},
                                    {{3, 20'000}, 1},
                                    {{3000, 70}, 1},
                                    {{2, 9000, 3}, 1},
                                    {{1000, 33}, 0},
                                    {{20'000, 32}, 0},
                                    {{2, 4321, 40}, 1},
                                    {{5, 0, 3}, 1},
                                    {{0, 5}, 1}})
    for (const bool exclusive : {false, true})
      for (const bool reverse : {false, true})
        BOOST_TEST_CONTEXT(shape.to_string() << " along " << axis << (exclusive ? ", exclusive" : "")
                                             << (reverse ? ", reverse" : ""))
  check(shape, running(axis, exclusive, reverse));
}

Build added_along(std::int64_t axis) {
  return [axis](const Outputs& in) { return Outputs{add_along_axis(in[0], in[1], in[2], axis)}; };
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_top_has_the_order_and_bits_of_the_cpu) {
  check_top<float>();
  check_top<double>();
  check_top<std::int32_t>();
  check_top<std::int64_t>();
}

BOOST_AUTO_TEST_CASE(the_top_of_a_million) {
  check_identical(top(1000), {chosen_from<float>(few_values<float>(), {1, 1 << 20})});
  check_identical(top(1000), {numbers<std::int64_t>({3, 1 << 19}, -1'000'000'000, 1'000'000'000)});
}

BOOST_AUTO_TEST_CASE(running_sums_of_integers_have_the_bits_of_the_cpu) {
  for_all_running_sums([](const Shape& shape, const Build& sums) {
    check_identical(sums, {chosen_from<std::int32_t>(few_values<std::int32_t>(), shape)});
    check_identical(sums, {chosen_from<std::int64_t>(few_values<std::int64_t>(), shape)});
  });
  check_identical(running(0, false, false), {numbers<std::int64_t>({1 << 20}, -1000, 1000)});
}

BOOST_AUTO_TEST_CASE(running_sums_of_floats_are_near_and_not_finite_where_those_of_the_cpu_are) {
  for_all_running_sums([](const Shape& shape, const Build& sums) {
    check_near<float>(sums, {numbers<float>(shape, -99, 99)}, 1e-6);
    check_near<double>(sums, {numbers<double>(shape, -99, 99)}, 1e-12);
    if (shape.elements() < 10) return;
    Tensor odd = numbers<float>(shape, -99, 99);
    const auto values = odd.mutable_values<float>();
    values[values.size() / 3] = INFINITY;
    values[values.size() / 2] = NAN;
    check_near<float>(sums, {odd}, 1e-6);
  });
}

BOOST_AUTO_TEST_CASE(running_sums_are_the_same_each_time) {
  const Tensor thirds = chosen_from<double>({1.0 / 3, -1e9 / 3, 1e-9 / 3}, {2, 100'003});
  const Build sums = running(1, false, false);
  const Tensor first = computed(sums, {thirds}, cuda_device(0))[0];
  for (int i = 0; i < 10; ++i)
    BOOST_TEST(identical(computed(sums, {thirds}, cuda_device(0))[0], first), "run " << i);
}

BOOST_AUTO_TEST_CASE(updates_of_one_place_add_up) {
  for (const std::int64_t count : {0, 1, 1023, 1024, 1025, 2047, 2049, 70'001})
    for (const std::int64_t places : {1, 2, 100, 65'537})
      BOOST_TEST_CONTEXT(count << " updates of " << places << " places") {
        const Tensor indices = numbers<std::int32_t>({count}, 0, places - 1);
        const Build rows = [](const Outputs& in) { return Outputs{scatter_add(in[0], in[1], in[2])}; };
        const Build columns = [](const Outputs& in) {
          return Outputs{scatter_add(in[0], in[1], in[2], 1)};
        };
        check_identical(rows, {numbers<std::int32_t>({places, 3}, -9, 9), indices,
                               numbers<std::int32_t>({count, 3}, -1'000'000'000, 1'000'000'000)});
        check_identical(columns, {numbers<std::int64_t>({2, places}, -9, 9), indices,
                                  numbers<std::int64_t>({2, count}, -9, 9)});
        const Tensor table = numbers<float>({places, 3}, -9, 9);
        const Tensor updates = chosen_from<float>({1.0F / 3, -7.0F / 3, 1e-5F}, {count, 3});
        if (count <= 1024 || places == 65'537)
          check_identical(rows, {table, indices, updates});
        else
          check_near<float>(rows, {table, indices, updates}, 1e-2);
      }
}

BOOST_AUTO_TEST_CASE(the_last_of_many_replacements_counts) {
  const Build replaced = [](const Outputs& in) {
    return Outputs{scatter_update(in[0], in[1], in[2], 1)};
  };
  for (const std::int64_t count : {0, 1, 300, 70'001})
    check_identical(replaced, {numbers<float>({2, 50, 3}, -9, 9), numbers<std::int64_t>({count}, 0, 49),
                               numbers<float>({2, count, 3}, -1000, 1000)});
}

BOOST_AUTO_TEST_CASE(indices_out_of_range_change_nothing) {
  const Build changed = [](const Outputs& in) { return Outputs{scatter_add(in[0], in[1], in[2])}; };
  std::vector<std::int64_t> bad(1000, 7);
  std::fill_n(bad.begin(), 400, -1);
  std::fill_n(bad.begin() + 400, 100, std::int64_t{1} << 40);
  const Tensor table = numbers<float>({7}, -9, 9);
  const auto on_gpu =
      computed(changed, {table, Tensor::of<std::int64_t>({1000}, bad), numbers<float>({1000}, 1, 9)},
               cuda_device(0));
  BOOST_TEST(identical(on_gpu[0], table));
}

BOOST_AUTO_TEST_CASE(values_along_an_axis_add_up) {
  for (const std::int64_t count : {0, 1, 32, 33, 300, 40'000})
    for (const std::int64_t dim : {1, 7, 1000})
      BOOST_TEST_CONTEXT(count << " values for lines of " << dim) {
        check_identical(added_along(1), {numbers<std::int64_t>({2, count, 3}, -9, 9),
                                         numbers<std::int32_t>({2, count, 3}, 0, dim - 1),
                                         Tensor::zeros(DType::int64, {2, dim, 3})});
        const Tensor values = chosen_from<float>({1.0F / 3, -7.0F / 3, 1e-5F}, {5, count});
        const Tensor indices = numbers<std::int64_t>({5, count}, 0, dim - 1);
        const Tensor like = Tensor::zeros(DType::float32, {5, dim});
        if (count <= 300 || dim == 1000)
          check_identical(added_along(-1), {values, indices, like});
        else
          check_near<float>(added_along(-1), {values, indices, like}, 1e-2);
        check_identical([](const Outputs& in) { return Outputs{take_along_axis(in[0], in[1], 1)}; },
                        {numbers<double>({5, dim}, -99, 99), indices});
      }
}

BOOST_AUTO_TEST_CASE(ids_go_to_the_parts_of_a_table) {
  const auto divided = [](std::vector<std::int64_t> boundaries, bool mod) -> Build {
    return [=](const Outputs& in) {
      const Output first = in[0].graph->add(builtin_ops().def("PartitionIds"), in,
                                            {{"boundaries", boundaries}, {"mod", mod}});
      Outputs all;
      for (std::size_t i = 0; i < first.node().outputs.size(); ++i)
        all.push_back(first.output(static_cast<int>(i)));
      return all;
    };
  };
  for (const std::int64_t count : {0, 1, 33, 100'003})
    for (const bool mod : {false, true}) BOOST_TEST_CONTEXT(count << " ids" << (mod ? ", mod" : "")) {
        check_identical(divided({0, 4, 4, 7, 10}, mod), {numbers<std::int32_t>({count}, 0, 9)});
        check_identical(divided({0, 100}, mod), {numbers<std::int64_t>({count}, 0, 99)});
      }
  for (const std::int64_t bad : {-1, 10}) {
    const auto says = [&](Device& device) {
      return error_of([&] {
        computed(divided({0, 4, 10}, false), {Tensor::of<std::int64_t>({3}, {1, bad, 2})}, device);
      });
    };
    BOOST_TEST(!says(cpu_device()).empty());
    BOOST_TEST(says(cuda_device(0)) == says(cpu_device()));
  }
}

BOOST_AUTO_TEST_SUITE_END()
