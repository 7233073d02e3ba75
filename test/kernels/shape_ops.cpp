// Reshaping, slicing, joining, padding and transposing: memory, dtypes, gradients and mistakes.
#include <boost/test/unit_test.hpp>
#include <limits>
#include <numeric>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(shape_ops)

using namespace actorflow;

namespace {

using test::interpret;
using test::names;
using test::value_of;

// 0, 1, 2, ...
Output counted(Graph& graph, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 0.0F);
  return graph.constant(Tensor::of(shape, values));
}

}  // namespace

BOOST_AUTO_TEST_CASE(reshape_shares_the_bytes_and_finds_the_open_dimension) {
  Graph graph;
  const Output x = counted(graph, {2, 6});
  const auto results = interpret(graph.def(), {}, {x, reshape(x, {3, -1}), expand_dims(x, {0, -1})});
  BOOST_TEST((results[1].shape() == Shape{3, 4}));
  BOOST_TEST((results[2].shape() == Shape{1, 2, 6, 1}));
  BOOST_TEST(results[1].data() == results[0].data());
  BOOST_TEST(results[2].data() == results[0].data());
}

BOOST_AUTO_TEST_CASE(a_reshape_that_does_not_fit_is_refused) {
  Graph graph;
  const Output x = counted(graph, {2, 3});
  BOOST_CHECK_EXCEPTION(reshape(x, {4}), Error, [](const Error& e) { return names(e, "6 elements"); });
  BOOST_CHECK_EXCEPTION(reshape(x, {4, -1}), Error, [](const Error& e) { return names(e, "[4,?]"); });
  BOOST_CHECK_EXCEPTION(reshape(x, {-1, -1}), Error,
                        [](const Error& e) { return names(e, "at most one"); });
}

BOOST_AUTO_TEST_CASE(a_batch_of_unknown_size_is_flattened_when_it_runs) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 2, 2});
  const Output flat = reshape(x, {Shape::unknown, 4});
  const Output gradient = gradients(sum(flat * flat), {x})[0];
  const test::Feeds feeds{{x.edge.node, Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4})}};
  const auto results = interpret(graph.def(), feeds, {flat, gradient});
  BOOST_TEST(identical(results[0], Tensor::of<float>({1, 4}, {1, 2, 3, 4})));
  BOOST_TEST(identical(results[1], Tensor::of<float>({1, 2, 2}, {2, 4, 6, 8})));
}

BOOST_AUTO_TEST_CASE(transpose_permutes_any_number_of_axes) {
  Graph graph;
  const Output x = counted(graph, {2, 3, 4});
  const Tensor turned = value_of(transpose(x, {1, 2, 0}));
  BOOST_TEST((turned.shape() == Shape{3, 4, 2}));
  for (std::int64_t i = 0; i < 24; ++i)
    BOOST_TEST(turned.values<float>()[static_cast<std::size_t>(i)] ==
               static_cast<float>(i % 2 * 12 + i / 2));
  BOOST_TEST(identical(value_of(transpose(transpose(x))), value_of(x)));
}

BOOST_AUTO_TEST_CASE(a_transposed_matrix_larger_than_a_tile_is_right_at_every_place) {
  Graph graph;
  const Tensor turned = value_of(transpose(counted(graph, {70, 33})));
  const auto values = turned.values<float>();
  bool right = true;
  for (std::size_t row = 0; row < 33; ++row)
    for (std::size_t column = 0; column < 70; ++column)
      right = right && values[row * 70 + column] == static_cast<float>(column * 33 + row);
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(every_dtype_can_be_cut_and_joined) {
  Graph graph;
  const auto check = [&graph](const Tensor& tensor) {
    const Output x = graph.constant(tensor);
    const Output head = slice(x, {0}, {1}), tail = slice(x, {1}, {-1});
    BOOST_TEST(identical(value_of(concat({head, tail}, 0)), tensor));
    BOOST_TEST(identical(value_of(transpose(x)), tensor));
  };
  check(Tensor::of<std::uint8_t>({3}, {1, 2, 3}));
  check(Tensor::of<bool>({3}, {true, false, true}));
  check(Tensor::of<int>({3}, {1, 2, 3}));
  check(Tensor::of<std::int64_t>({3}, {1, 2, 3}));
  check(Tensor::of<double>({3}, {1, 2, 3}));
  check(Tensor::of<std::string>({3}, {"one", "two", "three"}));
}

BOOST_AUTO_TEST_CASE(a_slice_is_a_box_of_the_tensor) {
  Graph graph;
  const Output x = counted(graph, {3, 4});
  BOOST_TEST(identical(value_of(slice(x, {1, 1}, {2, 2})), Tensor::of<float>({2, 2}, {5, 6, 9, 10})));
  BOOST_TEST(value_of(slice(x, {3, 0}, {-1, -1})).elements() == 0);
}

BOOST_AUTO_TEST_CASE(a_slice_that_leaves_the_tensor_is_refused) {
  Graph graph;
  const Output x = counted(graph, {3, 4});
  for (const std::vector<std::int64_t>& begin : {std::vector<std::int64_t>{2, 0}, {-1, 0}, {4, 0}})
    BOOST_CHECK_EXCEPTION(slice(x, begin, {2, 2}), Error,
                          [](const Error& e) { return names(e, "axis 0"); });
  BOOST_CHECK_EXCEPTION(slice(x, {4, 0}, {-1, -1}), Error,
                        [](const Error& e) { return names(e, "axis 0"); });
  BOOST_CHECK_EXCEPTION(slice(x, {0}, {1}), Error, [](const Error& e) { return names(e, "[3,4]"); });
}

BOOST_AUTO_TEST_CASE(a_slice_that_leaves_a_batch_of_unknown_size_fails_when_it_runs) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown});
  const Output part = slice(x, {1}, {3});
  BOOST_CHECK_EXCEPTION(
      interpret(graph.def(), {{x.edge.node, Tensor::zeros(DType::float32, {3})}}, {part}), Error,
      [](const Error& e) { return names(e, "node 'Slice'"); });
}

BOOST_AUTO_TEST_CASE(parts_join_along_any_axis_even_if_they_are_empty) {
  Graph graph;
  const Output x = counted(graph, {2, 2}), none = graph.constant(Tensor::zeros(DType::float32, {2, 0}));
  BOOST_TEST(identical(value_of(concat({x, none, x}, -1)),
                       Tensor::of<float>({2, 4}, {0, 1, 0, 1, 2, 3, 2, 3})));
  BOOST_CHECK_EXCEPTION(concat({x, none}, 0), Error, [](const Error& e) { return names(e, "[2,0]"); });
  BOOST_CHECK_EXCEPTION(concat({}, 0), Error, [](const Error& e) { return names(e, "none"); });
}

BOOST_AUTO_TEST_CASE(gradients_go_back_to_the_place_that_a_part_came_from) {
  Graph graph;
  const Output x = counted(graph, {4}), y = counted(graph, {2});
  const Output joined = concat({slice(x, {1}, {2}), y}, 0);
  const auto gradient = gradients(sum(joined * counted(graph, {4})), {x, y});
  BOOST_TEST(identical(value_of(gradient[0]), Tensor::of<float>({4}, {0, 0, 1, 0})));
  BOOST_TEST(identical(value_of(gradient[1]), Tensor::of<float>({2}, {2, 3})));
}

BOOST_AUTO_TEST_CASE(padding_surrounds_with_zeros_and_its_gradient_cuts_them_off) {
  Graph graph;
  const Output x = counted(graph, {1, 2});
  const Output padded = pad(x, {1, 0}, {0, 1});
  BOOST_TEST(identical(value_of(padded), Tensor::of<float>({2, 3}, {0, 0, 0, 0, 1, 0})));
  const Output gradient = gradients(sum(padded * counted(graph, {2, 3})), {x})[0];
  BOOST_TEST(identical(value_of(gradient), Tensor::of<float>({1, 2}, {3, 4})));
}

// Of pads that wrap around, the kernel would have written in front of its buffer.
BOOST_AUTO_TEST_CASE(sizes_that_no_tensor_has_are_refused) {
  Graph graph;
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const auto is_named = [](const Error& e) { return names(e, "a dimension below 2^63"); };
  const Output x = counted(graph, {12});
  BOOST_CHECK_EXCEPTION(pad(x, {most}, {most}), Error, is_named);
  BOOST_CHECK_EXCEPTION(pad(x, {0}, {most}), Error, is_named);
  const Output open = graph.placeholder(DType::float32, {Shape::unknown});
  const Output padded = pad(open, {most}, {most});
  const test::Feeds feeds{{open.edge.node, Tensor::zeros(DType::float32, {12})}};
  BOOST_CHECK_EXCEPTION(interpret(graph.def(), feeds, {padded}), Error, is_named);
  const Output wide = graph.placeholder(DType::float32, {most});
  BOOST_CHECK_EXCEPTION(concat({wide, x}, 0), Error, is_named);
  constexpr std::int64_t half = std::int64_t{1} << 32;
  BOOST_CHECK_EXCEPTION(reshape(x, {half, half, -1}), Error,
                        [](const Error& e) { return names(e, "12 elements"); });
}

BOOST_AUTO_TEST_CASE(shape_of_tells_what_the_graph_did_not_know) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, Shape::unknown_rank());
  const Output shape = shape_of(x);
  const test::Feeds feeds{{x.edge.node, Tensor::zeros(DType::float32, {5, 1, 2})}};
  BOOST_TEST(
      identical(interpret(graph.def(), feeds, {shape})[0], Tensor::of<std::int64_t>({3}, {5, 1, 2})));
}

BOOST_AUTO_TEST_SUITE_END()
