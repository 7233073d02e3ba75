// Every function that programs compute with, given an empty Output or one of another graph.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "kernels/ops.h"
#include "kernels/ops/clipping.h"
#include "kernels/ops/embedding.h"
#include "kernels/ops/learning_rate.h"

BOOST_AUTO_TEST_SUITE(empty_outputs)

using namespace actorflow;

namespace {

// Calls a function, one of whose arguments is `bad`.
struct Misuse {
  std::string named;  // the op, or the function, that the message names
  std::function<void(Output bad, Output good)> call;
};

#define ACTORFLOW_UNARY(function, name)             \
  {                                                 \
    name, [](Output bad, Output) { function(bad); } \
  }
#define ACTORFLOW_BINARY(function, name)                          \
  {name, [](Output bad, Output good) { function(bad, good); }}, { \
    name, [](Output bad, Output good) { function(good, bad); }    \
  }

std::vector<Misuse> misuses() {
  return {
      ACTORFLOW_BINARY(add, "Add"),
      ACTORFLOW_BINARY(subtract, "Sub"),
      ACTORFLOW_BINARY(multiply, "Mul"),
      ACTORFLOW_BINARY(divide, "Div"),
      ACTORFLOW_BINARY(maximum, "Maximum"),
      ACTORFLOW_BINARY(minimum, "Minimum"),
      ACTORFLOW_BINARY(actorflow::pow, "Pow"),
      ACTORFLOW_BINARY(equal, "Equal"),
      ACTORFLOW_BINARY(less, "Less"),
      ACTORFLOW_BINARY(logical_and, "LogicalAnd"),
      ACTORFLOW_BINARY(matmul, "MatMul"),
      ACTORFLOW_BINARY(batch_matmul, "BatchMatMul"),
      ACTORFLOW_BINARY(bias_add, "BiasAdd"),
      ACTORFLOW_BINARY(conv2d, "Conv2D"),
      ACTORFLOW_BINARY(gather, "Gather"),
      ACTORFLOW_BINARY(softmax_cross_entropy, "SoftmaxCrossEntropy"),
      ACTORFLOW_BINARY(relu_grad, "ReluGrad"),
      ACTORFLOW_BINARY(broadcast_like, "BroadcastLike"),
      ACTORFLOW_BINARY(sum_like, "SumLike"),
      ACTORFLOW_UNARY(negative, "Neg"),
      ACTORFLOW_UNARY(actorflow::exp, "Exp"),
      ACTORFLOW_UNARY(relu, "Relu"),
      ACTORFLOW_UNARY(identity, "Identity"),
      ACTORFLOW_UNARY(softmax, "Softmax"),
      ACTORFLOW_UNARY(log_softmax, "LogSoftmax"),
      ACTORFLOW_UNARY(gelu, "Gelu"),
      ACTORFLOW_UNARY(sum, "Sum"),
      ACTORFLOW_UNARY(mean, "Mean"),
      ACTORFLOW_UNARY(transpose, "Transpose"),
      ACTORFLOW_UNARY(shape_of, "ShapeOf"),
      ACTORFLOW_UNARY(zeros_like, "ZerosLike"),
      ACTORFLOW_UNARY(histogram, "Histogram"),
      {"cast()", [](Output bad, Output) { cast(bad, DType::float64); }},
      {"reshape()", [](Output bad, Output) { reshape(bad, {1}); }},
      {"Slice", [](Output bad, Output) { slice(bad, {0}, {1}); }},
      {"Concat",
       [](Output bad, Output good) {
         concat({good, bad}, 0);
       }},
      {"Concat", [](Output bad, Output) { concat({bad}, 0); }},
      {"concat()", [](Output, Output) { concat({}, 0); }},
      {"Pad", [](Output bad, Output) { pad(bad, {0}, {1}); }},
      {"ArgMax", [](Output bad, Output) { argmax(bad, 0); }},
      {"Select", [](Output bad, Output good) { select(equal(good, good), good, bad); }},
      {"Select", [](Output bad, Output good) { select(bad, good, good); }},
      {"LayerNorm", [](Output bad, Output good) { layer_norm(good, bad, good); }},
      {"Dropout", [](Output bad, Output good) { dropout(good, 0.5, 1, bad); }},
      {"BatchNorm", [](Output bad, Output good) { actorflow::batch_norm(good, good, bad); }},
      {"MaxPool", [](Output bad, Output) { max_pool(bad, 2, 2); }},
      {"FusedConv2D", [](Output bad, Output good) { fused_conv2d(good, good, bad); }},
      {"ScatterAdd", [](Output bad, Output good) { scatter_add(good, bad, good); }},
      {"UnsortedSegmentSum", [](Output bad, Output good) { unsorted_segment_sum(good, bad, 3); }},
      {"Add", [](Output bad, Output good) { bad + good; }},
      {"constant_like()", [](Output bad, Output) { bad * 2; }},
      {"embedding_lookup()", [](Output bad, Output good) { embedding_lookup(bad, good); }},
      {"Gather", [](Output bad, Output good) { embedding_lookup(good, bad); }},
      {"Square", [](Output bad, Output) { global_norm({bad}); }},
      {"cast()", [](Output bad, Output) { exponential_decay(0.1, bad, 10, 0.5); }},
      {"target 1",
       [](Output bad, Output good) {
         gradients(sum(good), {good, bad});
       }},
      {"gradients()", [](Output bad, Output good) { gradients(bad, {good}); }},
      {"variable 'w'", [](Output bad, Output good) { good.graph->variable("w", bad); }},
      {"run after",
       [](Output bad, Output good) {
         good.graph->group({good, bad});
       }},
      {"control edge", [](Output bad, Output good) { good.graph->add_control(bad, good); }},
      {"control edge", [](Output bad, Output good) { good.graph->add_control(good, bad); }},
  };
}

// The message of the invalid_argument that a call throws.
std::string refusal(const Misuse& misuse, const Output& bad, const Output& good) {
  try {
    misuse.call(bad, good);
  } catch (const Error& error) {
    BOOST_TEST((error.code() == Code::invalid_argument));
    return error.what();
  }
  return "nothing";
}

}  // namespace

BOOST_AUTO_TEST_CASE(an_empty_output_is_refused_everywhere) {
  for (const Misuse& misuse : misuses()) {
    Graph g;
    const Output good = g.constant(1.0F, "good");
    const std::string text = refusal(misuse, Output(), good);
    BOOST_TEST(text.find(misuse.named) != text.npos, misuse.named << ": " << text);
    const bool has_none = misuse.named == "concat()";
    BOOST_TEST((has_none || text.find("empty Output") != text.npos), misuse.named << ": " << text);
    BOOST_TEST((has_none || text.find("ive it ") != text.npos));
  }
}

BOOST_AUTO_TEST_CASE(an_output_of_another_graph_is_refused_beside_one_of_this) {
  for (const Misuse& misuse : misuses()) {
    Graph g, other;
    const Output good = g.constant(1.0F, "good"), far = other.constant(1.0F, "far");
    if (refusal(misuse, far, far) == refusal(misuse, far, good)) continue;  // a function of one argument
    const std::string text = refusal(misuse, far, good);
    BOOST_TEST(text.find("another graph") != text.npos, misuse.named << ": " << text);
  }
}

BOOST_AUTO_TEST_CASE(questions_to_an_empty_output_name_who_asked) {
  const Output nothing;
  BOOST_CHECK_EXCEPTION(nothing.shape(), Error, [](const Error& error) {
    const std::string text = error.what();
    return text.find("questions_to_an_empty_output_name_who_asked") != text.npos ||
           text.find("test_method()") != text.npos;
  });
  BOOST_CHECK_THROW(nothing.name(), Error);
  BOOST_CHECK_THROW(Variable().name(), Error);
}

BOOST_AUTO_TEST_CASE(an_output_of_a_node_that_is_not_there_is_refused) {
  Graph g;
  const Output x = g.constant(1.0F);
  BOOST_CHECK_THROW(negative(Output{&g, {7, 0}}), Error);
  BOOST_CHECK_THROW(negative(Output{&g, {-1, 0}}), Error);
  BOOST_CHECK_THROW(add(x, x.output(-1)), Error);
}

BOOST_AUTO_TEST_SUITE_END()
