// Programs as a user of Keras would write them, on data of this project: tables with gaps and texts,
// transfer learning, two towers, a rare class, and a regression.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/models/preprocessing/adapt.h"
#include "actors/models/preprocessing/text_vectorization.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"

BOOST_AUTO_TEST_SUITE(real_data)

using namespace actorflow;
using namespace actorflow::test;

namespace {

const std::string data_folder = std::string(ACTORFLOW_SOURCE_DIR) + "/apps/data/";

// The flowers of iris.csv by the names of their species, in another order of columns, with a field in
// eleven left empty and one in thirteen "?".
std::string flowers_with_gaps(const Folder& folder) {
  const Tuple rows =
      read_all(Dataset::csv({data_folder + "iris.csv"}, {.components = {{DType::string, 0, 5}}}));
  const auto fields = rows[0].values<std::string>();
  constexpr std::array species{"setosa", "versicolor", "virginica"};
  const std::string path = folder.file("flowers.csv");
  std::ofstream file(path);
  file << "species,sepal length,sepal width,petal length,petal width,size\r\n";
  for (std::size_t row = 0; row < 150; ++row) {
    file << '"' << species[row / 50] << '"';
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t place = row * 4 + i;
      file << ',' << (place % 11 == 5 ? "" : place % 13 == 7 ? "?" : fields[row * 5 + i]);
    }
    file << ',' << (std::stof(fields[row * 5]) > 5.8F ? "large" : "small") << "\r\n";
  }
  return path;
}

// The mean in place of what is missing.
Tuple filled(Tuple row, const Tensor& mean) {
  Tensor numbers = Tensor::zeros(DType::float32, row[0].shape());
  for (std::size_t i = 0; i < 4; ++i) {
    const float value = row[0].values<float>()[i];
    numbers.mutable_values<float>()[i] = std::isnan(value) ? mean.values<float>()[i] : value;
  }
  row[0] = numbers;
  return row;
}

bool is_whole(const Tuple& row) {
  return std::ranges::none_of(row[0].values<float>(), [](float value) { return std::isnan(value); });
}

// The tumours of breast_cancer.csv, 1 for malignant: of these one in nine.
struct Tumours {
  Tensor measures, labels;
};
Tumours rare_tumours() {
  const Dataset all = Dataset::csv({data_folder + "breast_cancer.csv"},
                                   {.components = {{DType::float32, 0, 30}, {DType::float32, 30, 1}}})
                          .map([](Tuple row) {
                            row[1] = Tensor::of<float>({1}, {1 - row[1].values<float>()[0]});
                            return row;
                          });
  const auto has = [](float label) {
    return [label](const Tuple& row) { return row[1].values<float>()[0] == label; };
  };
  const Tuple rows = read_all(
      Dataset::concatenate({all.filter(has(0)), all.filter(has(1)).shard(5, 0)}).shuffle({.seed = 3}));
  return {rows[0], rows[1]};
}

Dataset digits(const std::string& part, bool large) {
  return Dataset::idx({data_folder + "digits/" + part + "-images-idx3-ubyte",
                       data_folder + "digits/" + part + "-labels-idx1-ubyte"})
      .filter([large](const Tuple& row) { return (row[1].scalar<std::uint8_t>() > 4) == large; })
      .map([](Tuple row) {
        row[1] = Tensor::scalar<std::int64_t>(row[1].scalar<std::uint8_t>() % 5);
        return row;
      });
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_table_with_gaps_and_texts) {
  const Folder folder;
  const Dataset rows = Dataset::csv(
      {flowers_with_gaps(folder)},
      {.components =
           {{.dtype = DType::float32, .count = 4, .column = "sepal length", .default_value = "nan"},
            {.dtype = DType::string, .column = "size"},
            {.dtype = DType::string, .column = "species"}},
       .na_values = {"?"}});
  const Moments moments = moments_of(rows.filter(is_whole));
  const StringLookup sizes = StringLookup::adapt(rows, {.component = 1});
  const StringLookup species = StringLookup::adapt(rows, {.component = 2});
  BOOST_TEST(species.vocabulary() == (std::vector<std::string>{"virginica", "versicolor", "setosa"}));
  const Dataset examples = rows.map([mean = moments.mean](Tuple row) { return filled(row, mean); })
                               .map(sizes.of_component(1))
                               .map(species.of_component(2));

  const SymbolicTensor numbers = input({4}), size = input({}, DType::int64);
  const SymbolicTensor vector = embedding(sizes.size(), 2)(size);
  const SymbolicTensor all = concatenate()({normalization(moments)(numbers), vector});
  Model model({numbers, size}, {dense(species.size(), softmax)(dense(12, relu)(all))});
  model.compile(
      {.loss = sparse_categorical_cross_entropy(), .optimizer = Adam{0.02}, .metrics = {accuracy()}});
  model.fit(examples.shuffle({.seed = 1}), quiet({.epochs = 30, .batch_size = 15}));
  BOOST_TEST(model.evaluate(examples).at("accuracy") > 0.93);
}

BOOST_AUTO_TEST_CASE(features_of_some_digits_help_to_learn_the_others) {
  Model base = sequential({rescaling(1 / 255.0), flatten(), dense(64, relu), batch_norm(),
                           dense(32, relu), dense(5).named("small")});
  base.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.01}});
  base.fit(digits("train", false).shuffle({.seed = 1}), quiet({.epochs = 8, .batch_size = 32}));

  Model model(base.architecture().inputs, {dense(5).named("large")(base.get_layer("dense_1").output())});
  for (const std::string& layer : model.copy_weights(base)) model.get_layer(layer).set_trainable(false);
  const auto before = model.get_layer("batch_norm").weights();
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.01}, .metrics = {accuracy()}});
  model.fit(digits("train", true).shuffle({.seed = 1}), quiet({.epochs = 15, .batch_size = 32}));
  BOOST_TEST(same(model.get_layer("batch_norm").weights(), before));
  BOOST_TEST(model.evaluate(digits("t10k", true)).at("accuracy") > 0.8);
}

// Words and those that follow them in the plays, in place of users and what they watch.
BOOST_AUTO_TEST_CASE(two_towers_meet_in_a_dot_product) {
  const Dataset lines = Dataset::lines({data_folder + "shakespeare/shakespeare.txt"}).take(4000);
  const TextVectorization words = TextVectorization::adapt(lines, {.length = 2, .max_tokens = 200});
  std::vector<std::int64_t> firsts, seconds;
  std::vector<float> follows;
  const auto add = [&](std::int64_t first, std::int64_t second, float label) {
    firsts.push_back(first);
    seconds.push_back(second);
    follows.push_back(label);
  };
  std::int64_t other = 0;
  const Tuple pairs = read_all(lines.map(words.of_component(0)));
  for (std::int64_t row = 0; row < pairs[0].shape()[0]; ++row) {
    const auto ids = pairs[0].values<std::int64_t>().subspan(static_cast<std::size_t>(2 * row), 2);
    if (ids[0] < 2 || ids[1] < 2) continue;
    add(ids[0], ids[1], 1);
    add(ids[0], other = (other * 17 + 41) % words.size(), 0);
  }
  const auto count = std::ssize(firsts);
  const Tensor first = Tensor::of<std::int64_t>({count}, firsts);
  const Tensor second = Tensor::of<std::int64_t>({count}, seconds);

  const SymbolicTensor query = input({}, DType::int64), candidate = input({}, DType::int64);
  const SymbolicTensor left = dense(16)(embedding(words.size(), 16)(query));
  const SymbolicTensor right = dense(16)(embedding(words.size(), 16)(candidate));
  Model model({query, candidate}, {activation(sigmoid)(dot()({left, right}))});
  model.compile({.loss = binary_cross_entropy(), .optimizer = Adam{0.01}, .metrics = {auc()}});
  const TrainingData data({first, second}, {Tensor::of<float>({count, 1}, follows)});
  model.fit(data, quiet({.epochs = 20, .batch_size = 64}));
  BOOST_TEST(model.evaluate(data).at("auc") > 0.9);
}

BOOST_AUTO_TEST_CASE(a_rare_class_is_found_by_weights) {
  const auto [measures, labels] = rare_tumours();
  Metric when_sure = recall(0.9);
  when_sure.name = "recall_when_sure";
  const auto train = [&](const FitOptions& options) {
    Model model = sequential({normalization(moments_of(measures)), dense(1, sigmoid)});
    model.compile({.loss = binary_cross_entropy(),
                   .optimizer = Adam{0.01},
                   .metrics = {auc(), pr_auc(), precision(), recall(), f1_score(), when_sure}});
    model.fit({measures, labels}, options);
    return model.evaluate({measures, labels});
  };
  const FitOptions options = quiet({.epochs = 3, .batch_size = 32});
  FitOptions weighted = options;
  weighted.class_weight = {{0, 1}, {1, 8}};
  const Logs even = train(options), found = train(weighted);
  BOOST_TEST(found.at("recall_when_sure") > even.at("recall_when_sure"));
  BOOST_TEST(found.at("auc") > 0.97);
  BOOST_TEST(found.at("pr_auc") > 0.8);
  BOOST_TEST(std::abs(found.at("f1_score") - 2 * found.at("precision") * found.at("recall") /
                                                 (found.at("precision") + found.at("recall"))) < 1e-6);

  // Weights of examples say the same as those of their classes.
  std::vector<float> weights;
  for (const float label : labels.values<float>()) weights.push_back(label > 0 ? 8 : 1);
  Model by_examples = sequential({normalization(moments_of(measures)), dense(1, sigmoid)});
  by_examples.compile({.loss = binary_cross_entropy(),
                       .optimizer = Adam{0.01},
                       .metrics = {recall()},
                       .sample_weights = true});
  const Tensor example_weights = Tensor::of<float>({std::ssize(weights)}, weights);
  by_examples.fit({measures, labels, example_weights}, options);
  BOOST_TEST(by_examples.evaluate({measures, labels, example_weights}).at("recall") ==
             found.at("recall"));
}

BOOST_AUTO_TEST_CASE(a_regression_stops_when_it_no_longer_improves) {
  const Dataset flowers = Dataset::csv({data_folder + "iris.csv"},
                                       {.components = {{DType::float32, 0, 3}, {DType::float32, 3, 1}}})
                              .shuffle({.seed = 2, .each_pass_anew = false});
  const Dataset train = flowers.take(120), held_out = flowers.skip(120);
  Model model = sequential({normalization(moments_of(train)), dense(8, tanh), dense(1)});
  model.compile({.loss = huber(),
                 .optimizer = Adam{0.01},
                 .metrics = {root_mean_squared_error(), r2_score(), metric_of(mean_absolute_error())}});
  const History history =
      model.fit(train, quiet({.epochs = 500,
                              .batch_size = 20,
                              .validation_data = held_out,
                              .callbacks = {early_stopping({.monitor = "val_r2_score",
                                                            .patience = 10,
                                                            .min_delta = 1e-3,
                                                            .restore_best_weights = true})}}));
  BOOST_TEST(history.epochs.size() < 500U);
  const Logs logs = model.evaluate(held_out);
  BOOST_TEST(logs.at("r2_score") > 0.88);
  BOOST_TEST(logs.at("root_mean_squared_error") < 0.3);
  BOOST_TEST(logs.at("mean_absolute_error") < logs.at("root_mean_squared_error"));
}

BOOST_AUTO_TEST_SUITE_END()
