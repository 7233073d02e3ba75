// Estimators with a model of their own, and what they measure, predict and export.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>

#include "actors/layers/layers.h"
#include "test/estimator/support/flowers.h"
#include "test/estimator/support/says_all.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(estimators)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Texts = std::vector<std::string>;

Tensor texts(const Texts& values) { return Tensor::of<std::string>({std::ssize(values)}, values); }

const Texts colours{"red", "blue", "red", "green", "blue", "green", "red", "blue"};

// Two classes that the colour decides.
InputFn coloured(TensorInputOptions options = {.batch_size = 8}) {
  Texts labels;
  for (const auto& colour : colours) labels.push_back(colour == "red" ? "warm" : "cold");
  return tensor_input_fn({{"colour", texts(colours)}}, texts(labels), options);
}

LinearClassifierOptions warm_or_cold(const std::string& folder) {
  return {.feature_columns = {categorical_column_with_vocabulary_list("colour",
                                                                      Texts{"red", "green", "blue"})},
          .label_vocabulary = {"cold", "warm"},
          .config = {.model_dir = folder}};
}

void expect_refused(const Estimator& estimator, const InputFn& input, std::vector<std::string> words) {
  BOOST_CHECK_EXCEPTION(estimator.train(input, {.steps = 1}), Error, says_all(std::move(words)));
}

}  // namespace

BOOST_AUTO_TEST_CASE(iris_flowers_are_told_apart) {
  const Folder folder;
  const DNNClassifier flowers(flower_options({.model_dir = folder.path()}));
  flowers.train(training_flowers(32), {.steps = 500});
  const Logs logs = flowers.evaluate(testing_flowers());
  BOOST_TEST(logs.at("accuracy") >= 0.9666);
  BOOST_TEST(logs.at("global_step") == 500);
  BOOST_TEST(logs.at("loss") < 0.3);
}

BOOST_AUTO_TEST_CASE(names_are_learned_and_predicted) {
  const Folder folder;
  const LinearClassifier classifier(warm_or_cold(folder.path()));
  classifier.train(coloured(), {.steps = 50});
  const Logs logs = classifier.evaluate(coloured());
  for (const std::string metric : {"accuracy", "precision", "recall", "auc"})
    BOOST_TEST(logs.at(metric) == 1, metric);
  const auto predictions =
      classifier.predict(tensor_input_fn({{"colour", texts({"green", "red", "unknown"})}}));
  const auto classes = predictions.at("classes").values<std::string>();
  BOOST_TEST(classes[0] == "cold");
  BOOST_TEST(classes[1] == "warm");
  BOOST_TEST(predictions.at("class_ids").values<std::int64_t>()[1] == 1);
  const Tensor& probabilities = predictions.at("probabilities");
  BOOST_TEST((probabilities.shape() == Shape{3, 2}));
  for (std::size_t row = 0; row < 3; ++row) {
    const auto p = probabilities.values<float>().subspan(2 * row, 2);
    BOOST_TEST(std::abs(p[0] + p[1] - 1) < 1e-6F);
    const float logit = predictions.at("logits").values<float>()[row];
    BOOST_TEST(std::abs(p[1] - 1 / (1 + std::exp(-logit))) < 1e-6F);
  }
  // Of a colour that nobody knows the bias alone counts.
  const float bias = classifier.variables().at("linear_model/bias").values<float>()[0];
  BOOST_TEST(predictions.at("logits").values<float>()[2] == bias);
}

BOOST_AUTO_TEST_CASE(a_line_is_found) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  line.train(points_of_a_line(), {.steps = 200});
  const Logs logs = line.evaluate(points_of_a_line(7));
  BOOST_TEST(logs.at("loss") < 1e-6);
  BOOST_TEST(std::abs(logs.at("label/mean") - 1) < 1e-5);
  BOOST_TEST(std::abs(logs.at("prediction/mean") - 1) < 1e-3);
  const auto predictions = line.predict(tensor_input_fn({{"x", Tensor::of<float>({2}, {0, 3})}}));
  BOOST_TEST(std::abs(predictions.at("predictions").values<float>()[0] - 1) < 1e-3F);
  BOOST_TEST(std::abs(predictions.at("predictions").values<float>()[1] - 7) < 1e-2F);
}

BOOST_AUTO_TEST_CASE(a_network_finds_a_curve) {
  const Folder folder;
  std::vector<float> x, y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(static_cast<float>(i) / 20 - 1);
    y.push_back(x.back() * x.back());
  }
  const auto input = tensor_input_fn({{"x", Tensor::of<float>({40}, x)}}, Tensor::of<float>({40, 1}, y),
                                     {.batch_size = 40});
  const DNNRegressor curve({.feature_columns = {numeric_column("x")},
                            .hidden_units = {16, 16},
                            .optimizer = Adam{0.01},
                            .activation_fn = tanh,
                            .config = {.model_dir = folder.path()}});
  curve.train(input, {.steps = 400});
  BOOST_TEST(curve.evaluate(input).at("loss") < 1e-3);
}

// The batches of an input function have 128 rows unless it says otherwise.
BOOST_AUTO_TEST_CASE(an_input_may_have_less_than_a_batch) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  const auto input = tensor_input_fn({{"x", Tensor::of<float>({3}, {0, 1, 2})}},
                                     Tensor::of<float>({3, 1}, {1, 3, 5}), {.num_epochs = 1});
  line.train(input);
  BOOST_TEST(line.latest_step().value() == 1);
}

BOOST_AUTO_TEST_CASE(a_model_function_of_ones_own_is_trained) {
  const Folder folder;
  const ModelFn model_fn = [](Features& features) {
    const SymbolicTensor y = dense(1)(features["x"]);
    return ModelSpec{.outputs = {y},
                     .compile = {.loss = mean_squared_error(), .optimizer = Momentum{0.1}},
                     .predictions = {{"twice", add()({y, y})}}};
  };
  const Estimator estimator(model_fn, {.model_dir = folder.path()});
  const auto points = [](std::vector<float> x) { return Tensor::of<float>({std::ssize(x), 1}, x); };
  estimator.train(tensor_input_fn({{"x", points({0, 1, 2})}}, points({1, 3, 5}), {.batch_size = 3}),
                  {.steps = 200});
  const auto predictions = estimator.predict(tensor_input_fn({{"x", points({3})}}));
  BOOST_TEST(std::abs(predictions.at("twice").values<float>()[0] - 14) < 1e-2F);
}

BOOST_AUTO_TEST_CASE(evaluation_counts_partial_batches_by_examples_and_takes_so_many) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  line.train(points_of_a_line(), {.steps = 1});
  const double all = line.evaluate(points_of_a_line(30)).at("loss");
  BOOST_TEST(std::abs(line.evaluate(points_of_a_line(7)).at("loss") - all) < 1e-6);
  // The first ten labels are -1, -1 + 4/29, ...
  const double first = line.evaluate(points_of_a_line(5), {.steps = 2}).at("label/mean");
  BOOST_TEST(std::abs(first - (-1 + 4.5 * 4 / 29)) < 1e-6);
  BOOST_CHECK_EXCEPTION(line.evaluate(points_of_a_line(), {.steps = 0}), Error,
                        says_all({"steps of 1 or more", "0"}));
}

BOOST_AUTO_TEST_CASE(evaluations_are_events_of_their_own_folders) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  line.train(points_of_a_line(), {.steps = 3});
  const Logs logs = line.evaluate(points_of_a_line());
  line.evaluate(points_of_a_line(), {.name = "other"});
  const auto expected = std::vector<Scalar>{{3, static_cast<float>(logs.at("loss"))}};
  BOOST_TEST((scalars(folder.file("eval"), "loss") == expected));
  BOOST_TEST((scalars(folder.file("eval_other"), "loss") == expected));
}

BOOST_AUTO_TEST_CASE(where_nothing_was_trained_that_is_said) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  const auto expected = says("no trained model in " + folder.path());
  BOOST_CHECK_EXCEPTION(line.evaluate(points_of_a_line()), Error, expected);
  BOOST_CHECK_EXCEPTION(line.predict(points_of_a_line()), Error, expected);
  BOOST_CHECK_EXCEPTION(line.export_onnx(folder.file("export"), points_of_a_line()), Error, expected);
  BOOST_CHECK_EXCEPTION(line.variables(), Error, expected);
  BOOST_TEST(!line.latest_step());
}

BOOST_AUTO_TEST_CASE(a_model_with_all_kinds_of_columns_is_trained_and_exported) {
  const Folder folder;
  const auto age = numeric_column("age");
  const auto colour = categorical_column_with_hash_bucket("colour", 20);
  DNNClassifierOptions options{
      .feature_columns = {age, bucketized_column(age, {3, 6}), embedding_column(colour, 4),
                          indicator_column(colour),
                          indicator_column(crossed_column({"colour", bucketized_column(age, {4})}, 50))},
      .hidden_units = {8},
      .label_vocabulary = {"cold", "warm"},
      .optimizer = Adam{0.05},
      .dropout = 0.1,
      .config = {.model_dir = folder.path()}};
  const auto input = [](bool labelled) {
    std::map<std::string, Tensor> features{{"colour", texts(colours)},
                                           {"age", Tensor::of<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8})}};
    Texts labels;
    for (const auto& one : colours) labels.push_back(one == "red" ? "warm" : "cold");
    return labelled ? tensor_input_fn(features, texts(labels), {.batch_size = 4})
                    : tensor_input_fn(features);
  };
  const DNNClassifier classifier(options);
  classifier.train(input(true), {.steps = 100});
  BOOST_TEST(classifier.evaluate(input(true)).at("accuracy") == 1);
  classifier.export_onnx(folder.file("export"), input(false));
  const std::string signatures = read_file(folder.file("export/signatures.json"));
  for (const std::string name :
       {"age", "colour_ids", "age_bucketized_X_colour_ids", "probabilities", "class_ids", "logits"})
    BOOST_TEST(signatures.find('"' + name + '"') != std::string::npos, name << " in " << signatures);
  BOOST_TEST(std::filesystem::exists(folder.file("export/model.onnx")));
}

BOOST_AUTO_TEST_CASE(several_replicas_in_a_process_learn_what_one_learns) {
  const Folder one, two;
  line_of({.model_dir = one.path()}).train(points_of_a_line(), {.steps = 30});
  const auto mirrored = line_of({.model_dir = two.path(), .strategy = Mirrored{2}});
  mirrored.train(points_of_a_line(), {.max_steps = 12});
  mirrored.train(points_of_a_line(), {.steps = 18});
  BOOST_TEST(mirrored.latest_step().value() == 30);
  const auto expected = line_of({.model_dir = one.path()}).variables();
  for (const std::string name : {"linear_model/x/weights", "linear_model/bias"})
    BOOST_TEST(std::abs(mirrored.variables().at(name).values<float>()[0] -
                        expected.at(name).values<float>()[0]) < 1e-5F,
               name);
}

BOOST_AUTO_TEST_CASE(inputs_that_do_not_fit_are_refused_by_name) {
  const Folder folder;
  const auto line = line_of({.model_dir = folder.path()});
  const Tensor three = Tensor::of<float>({3}, {1, 2, 3});
  expect_refused(line, tensor_input_fn({{"z", three}}, three), {"needs the feature 'x'", "gives: z"});
  expect_refused(line, tensor_input_fn({{"x", texts({"a", "b", "c"})}}, three),
                 {"the feature 'x'", "a number", "string", "categorical column"});
  expect_refused(line, tensor_input_fn({{"x", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6})}}, three),
                 {"the feature 'x'", "a number", "float32[2]"});
  expect_refused(line, tensor_input_fn({{"x", three}}), {"1 tensor and 1 label", "got 1"});
  expect_refused(line, tensor_input_fn({{"x", three}}, texts({"a", "b", "c"})),
                 {"the feature 'label'", "a number"});
  expect_refused(
      line,
      [&] {
        return NamedExamples{.examples = Dataset::tensors({three, three}), .features = {"x", "x"}};
      },
      {"'x' twice"});
  expect_refused(
      line,
      [&] {
        return NamedExamples{.examples = Dataset::tensors({three, three}).take(0), .features = {"x"}};
      },
      {"no examples"});
  BOOST_CHECK_EXCEPTION(tensor_input_fn({{"x", three}}, Tensor::of<float>({2}, {1, 2})), Error,
                        says_all({"3", "2"}));
}

BOOST_AUTO_TEST_CASE(labels_that_cannot_be_are_refused) {
  const Folder folder;
  const DNNClassifier numbers({.feature_columns = {numeric_column("x")},
                               .hidden_units = {},
                               .n_classes = 3,
                               .config = {.model_dir = folder.path()}});
  const auto with = [](const Tensor& label) {
    return tensor_input_fn({{"x", Tensor::of<float>({1}, {1})}}, label);
  };
  expect_refused(numbers, with(Tensor::of<std::int64_t>({1}, {3})), {"label", "from 0 to 2", "got 3"});
  expect_refused(numbers, with(Tensor::of<std::int64_t>({1}, {-1})), {"label", "from 0 to 2", "got -1"});
  expect_refused(numbers, with(Tensor::of<float>({1}, {1})), {"label", "one integer", "float32"});
  const LinearClassifier names(warm_or_cold(folder.path()));
  expect_refused(names, tensor_input_fn({{"colour", texts({"red"})}}, texts({"hot"})),
                 {"label", "one of cold, warm", "'hot'"});
}

BOOST_AUTO_TEST_CASE(estimators_that_make_no_sense_are_refused) {
  const auto refused = [](const auto& make, std::vector<std::string> words) {
    BOOST_CHECK_EXCEPTION(make(), Error, says_all(std::move(words)));
  };
  const RunConfig config{.model_dir = "x"};
  refused([&] { DNNClassifier({.feature_columns = {}, .hidden_units = {3}, .config = config}); },
          {"DNNClassifier", "feature columns", "none"});
  refused(
      [&] {
        DNNClassifier({.feature_columns = flower_columns(), .hidden_units = {3, 0}, .config = config});
      },
      {"hidden_units", "0"});
  refused(
      [&] { LinearClassifier({.feature_columns = flower_columns(), .n_classes = 1, .config = config}); },
      {"n_classes of 2 or more", "1"});
  refused(
      [&] {
        LinearClassifier({.feature_columns = flower_columns(),
                          .n_classes = 3,
                          .label_vocabulary = {"a", "b"},
                          .config = config});
      },
      {"3 names", "2"});
  refused(
      [&] {
        LinearClassifier(
            {.feature_columns = flower_columns(), .label_vocabulary = {"a", "a"}, .config = config});
      },
      {"'a' twice"});
  refused(
      [&] {
        LinearRegressor({.feature_columns = flower_columns(), .label_dimension = 0, .config = config});
      },
      {"label_dimension", "0"});
  const Folder folder;
  refused(
      [&] {
        Estimator([](Features&) { return ModelSpec{}; }, {.model_dir = folder.path()})
            .train(points_of_a_line(), {.steps = 1});
      },
      {"no outputs"});
}

BOOST_AUTO_TEST_SUITE_END()
