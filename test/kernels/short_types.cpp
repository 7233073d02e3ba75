// float16, bfloat16, int8 and int16: casts among all types, what moves them, what computes with them,
// and what says that it does not.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/gradient.h"
#include "dataflow/transform/fuse.h"
#include "kernels/core/fusions.h"
#include "kernels/ops.h"
#include "kernels/ops/arrays.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(short_types)

using namespace actorflow;

namespace {

using test::interpret;
using test::names;

Tensor value_of(Output output) { return interpret(output.graph->def(), {}, {output}).front(); }

template <class T>
std::vector<double> doubles(const Tensor& tensor) {
  return {tensor.values<T>().begin(), tensor.values<T>().end()};
}

// The values after a cast.
template <class To, class From>
std::vector<double> cast_to(const std::vector<From>& values) {
  Graph graph;
  const Output x = graph.constant(Tensor::of<From>({std::ssize(values)}, values));
  return doubles<To>(value_of(cast(x, dtype_of<To>)));
}

// All of these hold the numbers 0 and 1.
constexpr DType all_types[] = {DType::float32, DType::float64, DType::int32,   DType::int64,
                               DType::boolean, DType::uint8,   DType::float16, DType::bfloat16,
                               DType::int8,    DType::int16};
constexpr DType moved_types[] = {DType::float16, DType::bfloat16, DType::int8, DType::int16};

Output added(const std::vector<Output>& all) { return add_node(add_n_op(), all); }

// [7, 5]: from -3 to 3, and no two the same.
Tensor some_numbers(float step) {
  std::vector<float> values;
  for (int i = 0; i < 35; ++i) values.push_back(3 * std::sin(step * static_cast<float>(i)));
  return Tensor::of<float>({7, 5}, values);
}

std::vector<std::function<Output(Output)>> activations() {
  return {[](Output x) { return exp(x); },     [](Output x) { return tanh(x); },
          [](Output x) { return sigmoid(x); }, [](Output x) { return relu(x); },
          [](Output x) { return gelu(x); },    [](Output x) { return gelu(x, true); },
          [](Output x) { return softmax(x); }, [](Output x) { return log_softmax(x); }};
}

// The node's op gives the bits that it gives for its inputs in float32, when these are rounded.
void expect_rounded_from_float32(Output result) {
  const Node node = result.node();  // a copy: the graph grows
  std::vector<Output> wide;
  for (const Edge& input : node.inputs) wide.push_back(cast({result.graph, input}, DType::float32));
  const Output rounded = cast(result.graph->add(*node.op, wide, node.attrs), result.dtype());
  BOOST_TEST(identical(value_of(result), value_of(rounded)),
             node.op->name << " in " << to_string(result.dtype()));
}

bool refuses(const Error& error, const char* what) {
  return error.code() == Code::invalid_argument && names(error, what);
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_pattern_of_16_bits_comes_back_from_float32) {
  const auto check = []<class T>(T) {
    Graph graph;
    Tensor all = Tensor::allocate(dtype_of<T>, {1 << 16});
    std::uint16_t pattern = 0;
    for (T& value : all.mutable_values<T>()) value = T::of_bits(pattern++);
    const Tensor back = value_of(cast(cast(graph.constant(all), DType::float32), dtype_of<T>));
    for (std::size_t i = 0; i < 1 << 16; ++i) {
      const T before = all.values<T>()[i], after = back.values<T>()[i];
      if (std::isnan(before) ? !std::isnan(after) : before.bits() != after.bits())
        BOOST_ERROR("the pattern " << i << " became " << after.bits());
    }
  };
  check(Float16());
  check(BFloat16());
}

BOOST_AUTO_TEST_CASE(every_type_is_cast_to_every_other) {
  for (const DType from : all_types)
    for (const DType to : all_types) {
      Graph graph;
      const Output x = cast(graph.constant(Tensor{true, false}), from);
      const Output there = cast(x, to), back = cast(there, DType::int32);
      const Tensor moved = value_of(there);
      BOOST_TEST((moved.dtype() == to));
      BOOST_TEST(identical(value_of(back), Tensor{1, 0}), to_string(from) << " to " << to_string(to));
    }
}

BOOST_AUTO_TEST_CASE(casts_round_saturate_and_keep_low_bits) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  const auto nan = BFloat16(std::numeric_limits<float>::quiet_NaN());
  BOOST_TEST((cast_to<BFloat16>(std::vector{1 + 0x1p-8 + 0x1p-40, 1e300, -3e38}) ==
              std::vector{1 + 0x1p-7, endless, static_cast<double>(BFloat16(-3e38))}));
  BOOST_TEST((cast_to<Float16>(std::vector{65519.0F, 65520.0F, 0x1p-25F, 0x1.8p-25F}) ==
              std::vector{65504.0, endless, 0.0, 0x1p-24}));
  BOOST_TEST(
      (cast_to<Float16>(std::vector{BFloat16(256.0F), BFloat16(1e30F)}) == std::vector{256, endless}));
  BOOST_TEST((cast_to<std::int8_t>(std::vector{300.0F, -300.0F, 1.9F, -1.9F}) ==
              std::vector<double>{127, -128, 1, -1}));
  BOOST_TEST((cast_to<std::int16_t>(std::vector{BFloat16(1e9F), BFloat16(-7.9F), nan}) ==
              std::vector<double>{32767, -7, 0}));
  BOOST_TEST(
      (cast_to<std::uint8_t>(std::vector{Float16(-1), Float16(1000)}) == std::vector<double>{0, 255}));
  BOOST_TEST((cast_to<std::int8_t>(std::vector{300, -129}) == std::vector<double>{44, 127}));
  BOOST_TEST((cast_to<std::uint8_t>(std::vector<std::int8_t>{-1, 5}) == std::vector<double>{255, 5}));
  BOOST_TEST((cast_to<std::int64_t>(std::vector<std::int16_t>{-300}) == std::vector<double>{-300}));
  BOOST_TEST((cast_to<bool>(std::vector{Float16(0), Float16(0x1p-24), Float16(-0.0)}) ==
              std::vector<double>{0, 1, 0}));
}

BOOST_AUTO_TEST_CASE(a_dtype_that_numbers_are_not_cast_to_is_refused) {
  Graph graph;
  for (const DType dtype : {DType::string, DType::invalid}) {
    Node node = cast(graph.placeholder(DType::bfloat16, {1}), DType::float32).node();
    node.attrs.find("dtype")->second = dtype;
    BOOST_CHECK_EXCEPTION(test::run_kernel(node, {Tensor{BFloat16(1)}}, cpu_device()), Error,
                          [](const Error& e) { return refuses(e, "a dtype of float32, float64"); });
  }
}

// What the same op makes of the numbers as int32 is right for every type that only moves.
BOOST_AUTO_TEST_CASE(what_moves_elements_moves_all_types) {
  Graph graph;
  const Output numbers = graph.constant(Tensor{{0, 1, 2}, {3, 4, 5}}),
               more = graph.constant(Tensor{{6, 7, 8}, {9, 10, 11}});
  const Output chosen = graph.constant(Tensor{2, 0}),
               flags = graph.constant(Tensor{{true, false, true}, {false, true, false}});
  const auto moved = [&](DType dtype) {
    const Output x = cast(numbers, dtype), y = cast(more, dtype);
    return std::vector<Output>{identity(x),
                               reshape(x, {3, 2}),
                               transpose(x, {1, 0}),
                               slice(x, {0, 1}, {2, 2}),
                               concat({x, y}, 1),
                               gather(x, chosen, 1),
                               gather(x, graph.constant(Tensor{1})),
                               tile(x, {2, 3}),
                               select(flags, x, y),
                               take_along_axis(x, graph.constant(Tensor{{2}, {0}}), 1),
                               scatter_update(x, graph.constant(Tensor{1}), slice(y, {0, 0}, {1, 3})),
                               zeros_like(x),
                               ones_like(x)};
  };
  const auto expected = moved(DType::int32);
  for (const DType dtype : moved_types) {
    const auto actual = moved(dtype);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      BOOST_TEST((value_of(actual[i]).dtype() == dtype));
      BOOST_TEST(identical(value_of(cast(actual[i], DType::int32)), value_of(expected[i])),
                 to_string(dtype) << " by " << actual[i].node().op->name);
    }
  }
}

BOOST_AUTO_TEST_CASE(results_are_rounded_once) {
  Graph graph;
  // In bfloat16, 256 + 1 is 256: three of them are added before the sum is rounded.
  const Output x = graph.constant(Tensor{BFloat16(256), BFloat16(1), BFloat16(1)});
  BOOST_TEST(value_of(sum(x)).scalar<BFloat16>() == 258);
  const Output one = graph.constant(BFloat16(1));
  BOOST_TEST(value_of(added({graph.constant(BFloat16(256)), one, one})).scalar<BFloat16>() == 258);
  const Output row = reshape(x, {1, 3}), ones = ones_like(reshape(x, {3, 1}));
  BOOST_TEST(value_of(matmul(row, ones)).values<BFloat16>()[0] == 258);
  BOOST_TEST(value_of(x + 1).values<BFloat16>()[0] == 256);
  BOOST_TEST(value_of(mean(x)).scalar<BFloat16>() == 86);
  BOOST_TEST(value_of(max(-x)).scalar<BFloat16>() == -1);
  const Output large = graph.constant(Tensor{Float16(60000)});
  BOOST_TEST(std::isinf(value_of(large + large).values<Float16>()[0]));
}

// A product in bfloat16 between weights and a loss in float32.
BOOST_AUTO_TEST_CASE(gradients_flow_through_16_bits) {
  Graph graph;
  const Output x = graph.constant(Tensor{{1.0F, 2.0F}, {3.0F, 4.0F}}),
               w = graph.constant(Tensor{{0.5F, -1.0F}, {2.0F, 0.25F}});
  const Output product = matmul(cast(x, DType::bfloat16), cast(w, DType::bfloat16));
  const Output loss = mean(cast(maximum(product, scalar_like(product, -100.0)) * 2, DType::float32));
  const Output towards_w = gradients(loss, {w})[0];
  BOOST_TEST((towards_w.dtype() == DType::float32));
  BOOST_TEST(identical(value_of(towards_w), Tensor{{2.0F, 2.0F}, {3.0F, 3.0F}}));
  const Output short_loss = sum(product * product), towards_x = gradients(short_loss, {x})[0];
  BOOST_TEST(identical(value_of(towards_x), Tensor{{5.5F, 17.75F}, {13.5F, 37.0F}}));
}

// In bfloat16, 256 + 1 is 256: what several indices name is added in float32.
BOOST_AUTO_TEST_CASE(gradients_of_what_indices_choose_are_rounded_once) {
  Graph graph;
  const Output column = graph.constant(Tensor{{BFloat16(1)}, {BFloat16(2)}}), row = transpose(column),
               twice = graph.constant(Tensor{0, 0, 0});
  const Output weights = graph.constant(Tensor{256.0F, 1.0F, 1.0F});
  const auto towards = [&](Output x, Output chosen) {
    const Output loss = sum(reshape(cast(chosen, DType::float32), {3}) * weights);
    return doubles<BFloat16>(value_of(gradients(loss, {x})[0]));
  };
  const std::vector<double> expected{258, 0};
  BOOST_TEST((towards(column, gather(column, twice)) == expected));
  BOOST_TEST((towards(column, embedding_lookup(column, twice)) == expected));
  BOOST_TEST((towards(row, gather(row, twice, 1)) == expected));
  BOOST_TEST((towards(row, take_along_axis(row, reshape(twice, {1, 3}), 1)) == expected));
}

BOOST_AUTO_TEST_CASE(activations_and_their_gradients_are_those_of_float32_rounded) {
  for (const DType dtype : {DType::float16, DType::bfloat16})
    for (const auto& function : activations()) {
      Graph graph;
      const Output x = cast(graph.constant(some_numbers(0.37F)), dtype),
                   g = cast(graph.constant(some_numbers(-0.61F)), dtype), y = function(x);
      expect_rounded_from_float32(y);
      expect_rounded_from_float32(gradients({y}, {g}, {x})[0]);
    }
}

BOOST_AUTO_TEST_CASE(a_bias_and_its_gradient_are_those_of_float32_rounded) {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    Graph graph;
    const Output x = cast(graph.constant(some_numbers(0.37F)), dtype),
                 g = cast(graph.constant(some_numbers(-0.61F)), dtype);
    const Output bias = slice(reshape(g, {-1}), {3}, {x.shape()[1]}), y = bias_add(x, bias);
    expect_rounded_from_float32(y);
    expect_rounded_from_float32(gradients({y}, {g}, {bias})[0]);
  }
}

// A layer in one op would round only its result.
BOOST_AUTO_TEST_CASE(a_dense_layer_is_not_fused) {
  Graph graph;
  const Output x = graph.placeholder(DType::bfloat16, {2, 3}),
               w = graph.placeholder(DType::bfloat16, {3, 4}),
               b = graph.placeholder(DType::bfloat16, {4});
  const Output y = relu(bias_add(matmul(x, w), b)), towards_b = gradients(sum(y), {b})[0];
  BOOST_TEST(towards_b.node().op->name == "BiasAddGrad");
  const auto everything = [](const OpDef&, const std::string&) { return true; };
  const auto fused = fuse(graph.def(), builtin_fusions(), everything).graph.nodes;
  BOOST_TEST(fused.size() == graph.def().nodes.size());
}

// 257 equal ones, of which bfloat16 counts 256.
BOOST_AUTO_TEST_CASE(equal_extremes_are_counted_exactly) {
  Graph graph;
  const Output x = graph.constant(Tensor::zeros(DType::bfloat16, {257}));
  for (const Output extreme : {max(x), min(x)}) {
    const Tensor towards_x = value_of(gradients(extreme, {x})[0]);
    BOOST_TEST(towards_x.values<BFloat16>()[0] == BFloat16(1.0F / 257));
  }
}

BOOST_AUTO_TEST_CASE(inputs_of_two_types_are_refused_though_both_become_float32) {
  Graph graph;
  const Output a = graph.placeholder(DType::bfloat16, {1, 1}),
               b = graph.placeholder(DType::bfloat16, {1, 1}), i = graph.placeholder(DType::int32, {1});
  const Tensor narrow{{BFloat16(1)}}, wide{{1.0F}};
  const auto refused = [&](Output output, std::vector<Tensor> inputs, const char* what) {
    BOOST_CHECK_EXCEPTION(test::run_kernel(output.node(), std::move(inputs), cpu_device()), Error,
                          [&](const Error& e) { return refuses(e, what); });
  };
  refused(added({a, b}), {narrow, wide}, "inputs of one type");
  refused(batch_matmul(a, b), {narrow, wide}, "inputs of one dtype");
  refused(scatter_add(a, i, b), {narrow, Tensor{0}, wide}, "updates of the tensor's dtype");
  refused(bias_add(a, reshape(b, {1})), {narrow, Tensor{1.0F}}, "inputs of one dtype");
}

BOOST_AUTO_TEST_CASE(what_does_not_compute_says_so) {
  Graph graph;
  const Output x = graph.constant(Tensor{{BFloat16(1)}}), i = graph.constant(Tensor{std::int8_t{1}});
  BOOST_CHECK_EXCEPTION(log(x), Error, [](const Error& e) {
    return refuses(e, "bfloat16[1,1]; cast it to float32 first");
  });
  BOOST_CHECK_EXCEPTION(layer_norm(x, reshape(x, {1}), reshape(x, {1})), Error,
                        [](const Error& e) { return refuses(e, "cast it to float32 first"); });
  BOOST_CHECK_EXCEPTION(i + i, Error, [](const Error& e) { return refuses(e, "int8[1]"); });
  BOOST_CHECK_EXCEPTION(sum(cast(i, DType::int16)), Error,
                        [](const Error& e) { return refuses(e, "int16[1]"); });
  BOOST_CHECK_EXCEPTION(added({i, i}), Error,
                        [](const Error& e) { return refuses(e, "of a numeric type"); });
}

BOOST_AUTO_TEST_SUITE_END()
