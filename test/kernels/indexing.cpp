// What the op table does not say of gather and scatter: indices that come twice, memory, and mistakes.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "test/kernels/support/interpreter.h"
#include "test/kernels/support/names.h"

BOOST_AUTO_TEST_SUITE(indexing)

using namespace actorflow;

namespace {

using test::names;
using test::value_of;

template <Element T>
std::vector<T> values_of(Output output) {
  const Tensor tensor = value_of(output);
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

// The table 0, 1, 2, ... of this shape.
Output table(Graph& graph, const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::float32, shape);
  float next = 0;
  for (float& value : tensor.mutable_values<float>()) value = next++;
  return graph.constant(tensor);
}

Output indices(Graph& graph, const std::vector<int>& values) {
  return graph.constant(Tensor::of({static_cast<std::int64_t>(values.size())}, values));
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_embedding_is_the_row_of_its_id) {
  Graph graph;
  const Output found = embedding_lookup(table(graph, {4, 2}), indices(graph, {3, 0, 3}));
  BOOST_TEST(values_of<float>(found) == (std::vector<float>{6, 7, 0, 1, 6, 7}));
}

BOOST_AUTO_TEST_CASE(the_gradients_of_an_id_that_comes_twice_sum_up) {
  Graph graph;
  const Output rows = table(graph, {3, 2});
  const Output loss = sum(embedding_lookup(rows, indices(graph, {1, 1, 2})));
  const Output gradient = gradients(loss, {rows}).front();
  BOOST_TEST(values_of<float>(gradient) == (std::vector<float>{0, 0, 2, 2, 1, 1}));
}

BOOST_AUTO_TEST_CASE(of_several_replacements_the_last_counts) {
  Graph graph;
  const Output x = table(graph, {3});
  const Output updates = graph.constant(Tensor::of<float>({3}, {10, 20, 30}));
  BOOST_TEST(values_of<float>(scatter_update(x, indices(graph, {1, 0, 1}), updates)) ==
             (std::vector<float>{20, 30, 2}));
}

BOOST_AUTO_TEST_CASE(a_tensor_that_somebody_else_holds_is_left_alone) {
  Graph graph;
  const Output x = table(graph, {3});
  const Output ones = graph.constant(Tensor::of<float>({1}, {1}));
  const Output changed = scatter_add(x, indices(graph, {0}), ones);
  const auto results = test::interpret(graph.def(), {}, {x, changed});
  BOOST_TEST(results[0].values<float>()[0] == 0.0F);
  BOOST_TEST(results[1].values<float>()[0] == 1.0F);
}

BOOST_AUTO_TEST_CASE(a_tensor_that_nobody_else_holds_is_changed_in_place) {
  Graph graph;
  const Output op = scatter_add(graph.placeholder(DType::float32, {3}), indices(graph, {0}),
                                graph.placeholder(DType::float32, {1}));
  std::vector<Tensor> inputs{Tensor::zeros(DType::float32, {3}), Tensor::of<int>({1}, {2}),
                             Tensor::of<float>({1}, {5})};
  const void* memory = inputs[0].data();
  const Tensor out = test::run_kernel(op.node(), std::move(inputs), cpu_device()).front();
  BOOST_TEST(out.data() == memory);
  BOOST_TEST(out.values<float>()[2] == 5.0F);
}

BOOST_AUTO_TEST_CASE(an_index_out_of_range_is_named_with_its_place) {
  const std::function<Output(Output, Output, Output)> ops[] = {
      [](Output x, Output ids, Output) { return gather(x, ids); },
      [](Output x, Output ids, Output rows) { return scatter_add(x, ids, rows); },
      [](Output x, Output ids, Output rows) { return scatter_update(x, ids, rows); },
      [](Output, Output ids, Output rows) { return unsorted_segment_sum(rows, ids, 4); }};
  for (const int wrong : {-1, 4})
    for (const auto& op : ops) {
      Graph graph;
      const Output x = table(graph, {4, 2}), rows = table(graph, {3, 2});
      const Output output = op(x, indices(graph, {0, 3, wrong}), rows);
      BOOST_CHECK_EXCEPTION(value_of(output), Error, [&](const Error& e) {
        return names(e, output.name()) && names(e, "0 to 3") && names(e, "place 2") &&
               names(e, "the index " + std::to_string(wrong));
      });
    }
}

BOOST_AUTO_TEST_CASE(mistakes_in_types_and_shapes_are_found_as_the_graph_is_built) {
  Graph graph;
  const Output x = table(graph, {4, 2}), ids = indices(graph, {0, 1, 2});
  BOOST_CHECK_THROW(gather(x, x), Error);
  BOOST_CHECK_EXCEPTION(gather(x, ids, 2), Error, [](const Error& e) { return names(e, "-2 to 1"); });
  BOOST_CHECK_EXCEPTION(scatter_add(x, ids, table(graph, {3, 3})), Error,
                        [](const Error& e) { return names(e, "[3,2]"); });
  BOOST_CHECK_THROW(scatter_update(x, ids, indices(graph, {1, 2, 3})), Error);
  BOOST_CHECK_EXCEPTION(unsorted_segment_sum(x, ids, 4), Error,
                        [](const Error& e) { return names(e, "leading"); });
  BOOST_CHECK_THROW(unsorted_segment_sum(x, indices(graph, {0, 1, 2, 3}), -1), Error);
}

BOOST_AUTO_TEST_CASE(unknown_dimensions_are_carried_along) {
  Graph graph;
  const Output ids = graph.placeholder(DType::int32, {Shape::unknown});
  BOOST_TEST(gather(table(graph, {4, 2}), ids).type().to_string() == "float32[?,2]");
  BOOST_TEST(gather(graph.placeholder(DType::float32, Shape::unknown_rank()), ids).type().to_string() ==
             "float32<unknown>");
}

BOOST_AUTO_TEST_SUITE_END()
