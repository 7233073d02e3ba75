// ONNX Runtime loads what we export, and computes the same.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/client/session.h"
#include "actors/estimator/canned.h"
#include "actors/export/onnx_export.h"
#include "actors/import/onnx_import.h"
#include "actors/layers/layers.h"
#include "actors/models/classifiers.h"
#include "actors/models/images/fast_net.h"
#include "actors/models/model.h"
#include "apps/training/models/model_choice.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"
#include "test/apps/support/python.h"
#include "test/support/exported_models.h"
#include "test/support/exported_ops.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(onnx_export, *boost::unit_test::precondition(actorflow::test::has_python))

using namespace actorflow;
using namespace actorflow::test;
using Json = nlohmann::json;

namespace {

template <class T>
Json data_of(const Tensor& tensor) {
  Json data = Json::array();
  for (const T value : tensor.values<T>()) data.push_back(value);
  return data;
}

Json to_json(const Tensor& tensor) {
  Json json{{"dtype", to_string(tensor.dtype())},
            {"shape", Json(std::vector(tensor.shape().dims().begin(), tensor.shape().dims().end()))}};
  switch (tensor.dtype()) {
    case DType::float32:
      json["data"] = data_of<float>(tensor);
      break;
    case DType::float64:
      json["data"] = data_of<double>(tensor);
      break;
    case DType::int32:
      json["data"] = data_of<std::int32_t>(tensor);
      break;
    case DType::int64:
      json["data"] = data_of<std::int64_t>(tensor);
      break;
    case DType::uint8:
      json["data"] = data_of<std::uint8_t>(tensor);
      break;
    default:
      json["data"] = data_of<bool>(tensor);
  }
  return json;
}

// What runs of a signature here say, for run_onnx.py.
Json case_of(Session& session, const Signature& signature, const std::map<std::string, Tensor>& inputs,
             double tolerance) {
  Json test{{"inputs", Json::object()}, {"outputs", Json::object()}, {"tolerance", tolerance}};
  Feeds feeds;
  for (const auto& [key, tensor] : inputs) {
    feeds.emplace_back(signature.inputs.at(key), tensor);
    test["inputs"][key] = to_json(tensor);
  }
  for (const auto& [key, output] : signature.outputs)
    test["outputs"][key] = to_json(session.run(output, feeds));
  return {{serving_default, test}};
}

// Exports a signature, runs it here with these inputs, and there.
void check_export(Session& session, const Signature& signature,
                  const std::map<std::string, Tensor>& inputs, double tolerance,
                  const OnnxExportOptions& options = {}) {
  Folder folder;
  export_onnx(posix_storage(), folder.path(), {{serving_default, signature}}, session, options);
  write_file(folder.file("cases.json"), case_of(session, signature, inputs, tolerance).dump());
  check_with_python("run_onnx.py", {folder.path()});
}

Signature signature_of(Output examples, Output logits) {
  return {{{"examples", examples}},
          {{"logits", logits}, {"probabilities", softmax(logits)}, {"class", argmax(logits, 1)}}};
}

void check_model(const Architecture& architecture, const Shape& image) {
  Graph graph;
  const Classifier model = make_classifier(graph, architecture, image, {.seed = 3, .training = false});
  const Signature signature = signature_of(model.x, model.test.logits);
  Session session(graph);
  session.initialize_variables();
  check_export(session, signature,
               {{"examples", random_tensor({4, image[0], image[1], image[2]}, 0, 1)}}, 1e-4);
}

void check_ops(std::map<std::string, Output> (*outputs)(Output)) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 3, 4}, "x");
  const Signature signature{{{"x", x}}, outputs(x)};
  Session session(graph);
  check_export(session, signature, {{"x", random_tensor({2, 3, 4})}}, 2e-6);
}

// Trains by the command, exports, and compares with the checkpoint's weights in a model made here.
void check_trained(const ModelChoice& choice, const Shape& example,
                   const std::vector<std::string>& flags) {
  Folder folder;
  const std::string output = folder.file("export");
  std::vector<std::string> command{"actorflow",
                                   "train",
                                   "mnist",
                                   "--ps=1",
                                   "--workers=1",
                                   "--model=" + choice.name,
                                   "--checkpoint-dir",
                                   folder.file("saved")};
  command.insert(command.end(), flags.begin(), flags.end());
  Process training(command);
  BOOST_TEST(training.wait() == 0, training.output());
  Process exporting({"actorflow", "export", "--checkpoint", folder.file("saved"), "--output", output});
  BOOST_TEST(exporting.wait() == 0, exporting.output());
  BOOST_TEST(exporting.output().find(describe(choice) + ", of step ") != std::string::npos,
             exporting.output());

  Graph graph;
  const Classifier model =
      make_classifier(graph, architecture_of(choice, {{DType::float32, example}, {}, 10, ""}), example,
                      {.training = false});
  const auto checkpoint = load_latest_checkpoint(posix_storage(), folder.file("saved"));
  BOOST_TEST_REQUIRE(checkpoint.has_value());
  std::vector<Output> restore;
  for (const Variable& variable : model.variables.all())
    restore.push_back(graph.assign(variable, graph.constant(checkpoint->tensors.at(variable.name()))));
  Session session(graph);
  session.run({}, {}, restore);
  std::vector<std::int64_t> images{20};
  images.insert(images.end(), example.dims().begin(), example.dims().end());
  write_file(output + "/cases.json", case_of(session, signature_of(model.x, model.test.logits),
                                             {{"examples", random_tensor(Shape(images), 0, 1)}}, 1e-4)
                                         .dump());
  check_with_python("run_onnx.py", {output});
}

void expect_near(const Tensor& actual, const Tensor& expected) {
  BOOST_TEST_REQUIRE(actual.describe() == expected.describe());
  for (std::size_t i = 0; i < expected.values<float>().size(); ++i)
    BOOST_TEST(std::abs(actual.values<float>()[i] - expected.values<float>()[i]) < 1e-5,
               "element " << i << ": " << actual.values<float>()[i] << ", expected "
                          << expected.values<float>()[i]);
}

// Trains a model a little, exports it, and compares what our import and ONNX Runtime make of the file
// with what the model predicts.
void check_predictions(Model& model, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& labels) {
  model.fit({inputs, labels}, {.epochs = 3, .batch_size = 8, .verbosity = Verbosity::silent});
  const Folder folder;
  model.export_onnx(folder.path());
  Graph graph;
  const Signature imported = import_onnx(posix_storage(), folder.file("model.onnx"), graph);
  Json test{{"inputs", Json::object()}, {"outputs", Json::object()}, {"tolerance", 1e-5}};
  Feeds feeds;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = i == 0 ? "x" : "x_1";
    feeds.emplace_back(imported.inputs.at(name), inputs[i]);
    test["inputs"][name] = to_json(inputs[i]);
  }
  Session session(graph);
  const std::vector<Tensor> predicted = model.predict(inputs);
  BOOST_TEST(predicted.size() == imported.outputs.size());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const std::string name = i == 0 ? "y" : "y_1";
    expect_near(session.run(imported.outputs.at(name), feeds), predicted[i]);
    test["outputs"][name] = to_json(predicted[i]);
  }
  write_file(folder.file("cases.json"), Json{{serving_default, test}}.dump());
  check_with_python("run_onnx.py", {folder.path()});
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
  check_export(session, signature, {{"text", text_of_transformer()}}, 1e-5);
}

BOOST_AUTO_TEST_CASE(trained_models_predict_the_same) {
  check_trained({.name = "mlp", .settings = {{"hidden", "48,32"}}}, {28, 28, 1},
                {"--set=hidden=48,32", "--train-steps=100"});
  check_trained({.name = "lenet"}, {28, 28, 1}, {"--train-steps=10"});
  check_trained({.name = "resnet20"}, {28, 28, 1}, {"--train-steps=3", "--batch-size=8"});
}

BOOST_AUTO_TEST_CASE(recurrent_layers_are_the_same) {
  const std::vector<std::vector<Layer>> networks{
      {lstm(3, {.return_sequences = true}), gru(4, {.go_backwards = true})},
      {bidirectional(lstm(3))},
      {simple_rnn(3, {.activation = relu})},
      {conv1d(4, 3, relu, {.padding = SeriesPadding::causal, .dilation = 2}), max_pool1d(), gru(3)}};
  for (const auto& layers : networks) {
    Graph graph;
    const Classifier model = make_classifier(graph, chain(layers), Shape{6, 5}, {.training = false});
    Session session(graph);
    session.initialize_variables();
    check_export(session, signature_of(model.x, model.test.logits),
                 {{"examples", random_tensor({4, 6, 5})}}, 1e-5);
  }
}

// Of the layers that compute otherwise in training: averages that have moved, and no dropout.
BOOST_AUTO_TEST_CASE(a_model_with_normalisation_and_dropout_predicts_the_same) {
  Model model = sequential(input({8, 8, 1}),
                           {conv2d(4, 3, relu), batch_norm(), max_pool(), dropout(0.5), flatten(),
                            dense(10, tanh), batch_norm(), layer_norm(), dropout(0.2), dense(3)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.05}});
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < 20; ++i) classes.push_back(i % 3);
  check_predictions(model, {random_tensor({20, 8, 8, 1}, 0, 3)},
                    {Tensor::of<std::int64_t>({20}, classes)});
}

BOOST_AUTO_TEST_CASE(a_model_of_several_inputs_and_outputs_predicts_the_same) {
  const SymbolicTensor left = input({5}), right = input({3});
  const SymbolicTensor both = batch_norm()(concatenate()({dense(6, relu)(left), right}));
  Model model({left, right}, {dense(2)(dropout(0.3)(both)), dense(1)(both)});
  model.compile({.loss = {mean_squared_error(), mean_absolute_error()}, .optimizer = Adam{0.05}});
  check_predictions(model, {random_tensor({20, 5}), random_tensor({20, 3}, 1, 4)},
                    {random_tensor({20, 2}), random_tensor({20, 1})});
}

BOOST_AUTO_TEST_CASE(weights_in_a_file_of_their_own_are_found) {
  Graph graph;
  const Output x = graph.placeholder(DType::float32, {Shape::unknown, 100}, "x");
  const Variable w = graph.variable("w", graph.constant(random_tensor({100, 200})));
  const Variable b = graph.variable("b", graph.constant(random_tensor({200})));
  const Variable v = graph.variable("v", graph.constant(random_tensor({200, 70})));
  const Signature signature{{{"x", x}}, {{"y", matmul(bias_add(matmul(x, w), b), v)}}};
  Session session(graph);
  session.initialize_variables();
  // Sums of 200 products of the size of 2, in an order that is each runtime's own: 200 * 2 * 2^-24 each.
  check_export(session, signature, {{"x", random_tensor({3, 100})}}, 1e-4, {.max_model_bytes = 1000});
}

// Features by name, columns by their ids.
BOOST_AUTO_TEST_CASE(an_estimator_with_columns_is_the_same) {
  const Folder folder;
  const auto age = numeric_column("age", {.normalizer_fn = [](Output x) { return x / 10.0; }});
  const auto town = categorical_column_with_identity("town", 5);
  const DNNClassifier estimator(
      {.feature_columns = {age, bucketized_column(numeric_column("size"), {1, 3}),
                           embedding_column(town, 3), indicator_column(town)},
       .hidden_units = {6},
       .config = {.model_dir = folder.path()}});
  const std::map<std::string, Tensor> features{
      {"age", Tensor::of<float>({4, 1}, {7, 18, 40, 65})},
      {"size", Tensor::of<float>({4, 1}, {0, 1, 2.5, 3})},
      {"town", Tensor::of<std::int64_t>({4, 2}, {0, 4, 1, -1, -1, -1, 2, 2})}};
  const Tensor labels = Tensor::of<std::int64_t>({4}, {0, 1, 1, 0});
  estimator.train(tensor_input_fn(features, labels, {.batch_size = 4}), {.steps = 20});
  estimator.export_onnx(folder.path(), tensor_input_fn(features));
  Json test{{"inputs", Json::object()}, {"outputs", Json::object()}, {"tolerance", 1e-5}};
  for (const auto& [name, tensor] : features)
    test["inputs"][name == "town" ? "town_ids" : name] = to_json(tensor);
  for (const auto& [name, tensor] : estimator.predict(tensor_input_fn(features)))
    test["outputs"][name] = to_json(tensor);
  write_file(folder.file("cases.json"), Json{{serving_default, test}}.dump());
  check_with_python("run_onnx.py", {folder.path()});
}

BOOST_AUTO_TEST_SUITE_END()
