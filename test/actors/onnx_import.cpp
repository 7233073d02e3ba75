// What was exported as ONNX is imported again, and computes the same.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <string>

#include "actors/client/session.h"
#include "actors/export/onnx_export.h"
#include "actors/import/onnx_import.h"
#include "actors/jobs/collection.h"
#include "actors/jobs/job.h"
#include "actors/jobs/tensors/batches.h"
#include "actors/models/classifiers.h"
#include "actors/models/images/fast_net.h"
#include "dataflow/transform/optimise.h"
#include "test/actors/support/onnx_models.h"
#include "test/support/exported_models.h"
#include "test/support/exported_ops.h"

BOOST_AUTO_TEST_SUITE(onnx_import)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Tensors = std::map<std::string, Tensor>;

std::string exported(const Folder& folder, Session& session, const Signature& signature,
                     const OnnxExportOptions& options = {}) {
  export_onnx(posix_storage(), folder.path(), {{serving_default, signature}}, session, options);
  return folder.file("model.onnx");
}

template <class T>
double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.values<T>().size(); ++i) {
    const auto x = static_cast<double>(a.values<T>()[i]), y = static_cast<double>(b.values<T>()[i]);
    if (std::isnan(x) && std::isnan(y)) continue;
    largest = std::max(largest, std::abs(x - y) / std::max(1.0, std::abs(x)));
  }
  return largest;
}

void expect_near(const Tensor& actual, const Tensor& expected, const std::string& name) {
  BOOST_TEST_REQUIRE(actual.describe() == expected.describe(), name);
  const double difference =
      expected.dtype() == DType::float32   ? largest_difference<float>(actual, expected)
      : expected.dtype() == DType::float64 ? largest_difference<double>(actual, expected)
                                           : (identical(actual, expected) ? 0 : 1);
  BOOST_TEST(difference <= 2e-6, name << " differs by " << difference);
}

// The outputs of a signature as they are, and as they are after export and import.
void check_round_trip(Session& session, const Signature& signature, const Tensors& inputs,
                      const OnnxExportOptions& options = {}) {
  const Folder folder;
  Graph graph;
  const Signature model =
      import_onnx(posix_storage(), exported(folder, session, signature, options), graph);
  BOOST_TEST(model.inputs.size() == signature.inputs.size());
  BOOST_TEST_REQUIRE(model.outputs.size() == signature.outputs.size());
  Session imported(graph);
  Feeds before, after;
  for (const auto& [name, tensor] : inputs) {
    before.emplace_back(signature.inputs.at(name), tensor);
    after.emplace_back(model.inputs.at(name), tensor);
  }
  for (const auto& [name, output] : signature.outputs)
    expect_near(imported.run(model.outputs.at(name), after), session.run(output, before), name);
}

void check_ops(std::map<std::string, Output> (*outputs)(Output)) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 3, 4}, "x");
  Session session(graph);
  check_round_trip(session, {{{"x", x}}, outputs(x)}, {{"x", random_tensor({2, 3, 4})}});
}

void check_model(const Architecture& architecture, const Shape& image) {
  Graph graph;
  const Classifier model = make_classifier(graph, architecture, image, {.seed = 3, .training = false});
  const Signature signature{{{"examples", model.x}},
                            {{"logits", model.test.logits}, {"class", argmax(model.test.logits, 1)}}};
  Session session(graph);
  session.initialize_variables();
  check_round_trip(session, signature,
                   {{"examples", random_tensor({4, image[0], image[1], image[2]}, 0, 1)}});
}

// y = 2 x, with x [?, 2].
Signature doubled(Graph& graph) {
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 2}, "x");
  return {{{"x", x}}, {{"y", matmul(x, graph.constant(Tensor::of<float>({2, 2}, {2, 0, 0, 2})))}}};
}

std::string export_doubled(const Folder& folder) {
  Graph graph;
  const Signature signature = doubled(graph);
  Session session(graph);
  return exported(folder, session, signature);
}

}  // namespace

BOOST_AUTO_TEST_CASE(elementwise_ops_are_the_same) { check_ops(elementwise_outputs); }
BOOST_AUTO_TEST_CASE(ops_of_shapes_and_reductions_are_the_same) { check_ops(shape_outputs); }
BOOST_AUTO_TEST_CASE(ops_of_layers_are_the_same) { check_ops(layer_outputs); }

BOOST_AUTO_TEST_CASE(lenet_is_the_same) { check_model(lenet(), {28, 28, 1}); }
BOOST_AUTO_TEST_CASE(resnet20_is_the_same) { check_model(resnet20(), {32, 32, 3}); }
BOOST_AUTO_TEST_CASE(the_fast_net_is_the_same) {
  check_model(fast_net(random_tensor({2, 2, 3, 24})), {32, 32, 3});
}

BOOST_AUTO_TEST_CASE(a_transformer_is_the_same) {
  Graph graph;
  const Signature signature = transformer_in(graph);
  Session session(graph);
  session.initialize_variables();
  check_round_trip(session, signature, {{"text", text_of_transformer()}});
}

BOOST_AUTO_TEST_CASE(weights_of_a_file_of_their_own_are_read) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 100}, "x");
  const Variable w = graph.variable("w", graph.constant(random_tensor({100, 200})));
  Session session(graph);
  session.initialize_variables();
  check_round_trip(session, {{{"x", x}}, {{"y", matmul(x, w)}}}, {{"x", random_tensor({3, 100})}},
                   {.max_model_bytes = 1000});
}

// Between layers of a convolutional net nothing changes the layout.
BOOST_AUTO_TEST_CASE(images_change_their_layout_at_the_ends_only) {
  Graph graph;
  const Classifier model = make_classifier(graph, resnet20(), {32, 32, 3}, {.training = false});
  Session session(graph);
  session.initialize_variables();
  const Folder folder;
  Graph again;
  const Signature imported = import_onnx(
      posix_storage(),
      exported(folder, session, {{{"examples", model.x}}, {{"logits", model.test.logits}}}), again);
  const auto needed = needed_by(again.def(), {imported.outputs.at("logits").edge.node});
  int exchanges = 0;
  for (NodeId id = 0; id < again.def().size(); ++id) {
    const Node& node = again.def().node(id);
    exchanges += needed[static_cast<std::size_t>(id)] && node.op->name == "Transpose";
  }
  BOOST_TEST(exchanges == 0);
}

BOOST_AUTO_TEST_CASE(a_model_becomes_part_of_a_graph) {
  const Folder folder;
  Graph graph;
  const Output sum = graph.constant(Tensor::of<float>({1, 2}, {1, 2})) + 1.0F;
  const Signature model = import_onnx(posix_storage(), export_doubled(folder), graph, {{"x", sum}});
  Session session(graph);
  const Tensor y = session.run(model.outputs.at("y"));
  BOOST_TEST(y.values<float>()[0] == 4);
  BOOST_TEST(y.values<float>()[1] == 6);
}

BOOST_AUTO_TEST_CASE(a_model_is_a_map_of_a_job) {
  const Folder folder;
  Graph graph;
  const Signature model = import_onnx(posix_storage(), export_doubled(folder), graph);
  const GraphFunction twice({model.inputs.at("x")}, {model.outputs.at("y")}, {});
  Job job;
  const std::vector<std::int64_t> numbers{1, 2, 3, 4, 5};
  const auto pairs = job.from(numbers, 2)
                         .batch(2)
                         .map<std::array<float, 2>>(twice,
                                                    [](std::int64_t n) {
                                                      return std::array<float, 2>{float(n), float(-n)};
                                                    })
                         .collect();
  BOOST_TEST_REQUIRE(pairs.size() == 5U);
  for (const auto& [n, result] : pairs) {
    BOOST_TEST(result[0] == 2 * static_cast<float>(n));
    BOOST_TEST(result[1] == -2 * static_cast<float>(n));
  }
}

BOOST_AUTO_TEST_CASE(inputs_that_do_not_fit_are_named) {
  const Folder folder;
  const std::string file = export_doubled(folder);
  Graph graph;
  const Output wide = graph.constant(Tensor::zeros(DType::float32, {1, 3}));
  BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), file, graph, {{"x", wide}}), Error,
                        fails_as(Code::invalid_argument, "float32[1,3]"));
  BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), file, graph, {{"z", wide}}), Error,
                        fails_as(Code::invalid_argument, "no input 'z'; its inputs are: x"));
  BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), folder.file("none"), graph), Error,
                        fails_as(Code::not_found, "none"));
}

BOOST_AUTO_TEST_CASE(activations_take_floating_numbers_of_16_bits) {
  const Folder folder;
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    OnnxModel model = model_of({{"a", "Relu", {"x"}, {"r"}, {}}, {"b", "Tanh", {"r"}, {"y"}, {}}});
    model.inputs[0].dtype = model.outputs[0].dtype = dtype;
    Graph graph;
    BOOST_CHECK_NO_THROW(import_onnx(posix_storage(), write_model(folder, model), graph));
    BOOST_TEST((graph.def().nodes.back().outputs[0].dtype == dtype));
  }
}

// A good model, of which the ops cannot compute a part.
BOOST_AUTO_TEST_CASE(ops_that_do_not_take_short_integers_are_named_as_not_implemented) {
  const Folder folder;
  for (const DType dtype : {DType::int8, DType::int16}) {
    OnnxModel model = model_of({{"a", "Relu", {"x"}, {"r"}, {}}, {"b", "Tanh", {"r"}, {"y"}, {}}});
    model.inputs[0].dtype = model.outputs[0].dtype = dtype;
    const std::string file = write_model(folder, model), type(to_string(dtype));
    Graph graph;
    BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), file, graph), Error, [&](const Error& error) {
      return fails_as(Code::unimplemented,
                      "1 nodes of the model cannot be imported: node 'a' (Relu)")(error) &&
             says(type + "[2,2]")(error);
    });
  }
}

BOOST_AUTO_TEST_CASE(operator_sets_that_are_too_old_or_new_are_named) {
  const Folder folder;
  for (const int opset : {9, 22}) {
    OnnxModel model = model_of({{"a", "Relu", {"x"}, {"y"}, {}}});
    model.opset = opset;
    const std::string file = write_model(folder, model);
    Graph graph;
    BOOST_CHECK_EXCEPTION(import_onnx(posix_storage(), file, graph), Error,
                          fails_as(Code::unimplemented, "operator set " + std::to_string(opset)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
