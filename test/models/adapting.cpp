// Preprocessing layers that have learned from data: their numbers, and how they are kept.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "actors/import/onnx_import.h"
#include "actors/models/model.h"
#include "actors/models/preprocessing/adapt.h"
#include "actors/models/preprocessing/text_vectorization.h"
#include "actors/runtime/storage.h"
#include "test/models/support/each_strategy.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(adapting)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Ids = std::vector<std::int64_t>;
using Words = std::vector<std::string>;

const std::string iris = std::string(ACTORFLOW_SOURCE_DIR) + "/apps/data/iris.csv";

Dataset flowers() {
  return Dataset::csv({iris}, {.components = {{DType::float32, 0, 4}, {DType::int64, 4}}});
}

std::vector<float> floats(const Tensor& tensor) {
  return {tensor.values<float>().begin(), tensor.values<float>().end()};
}

Ids ids(const Tensor& tensor) {
  return {tensor.values<std::int64_t>().begin(), tensor.values<std::int64_t>().end()};
}

Dataset texts(const Words& all) {
  return Dataset::tensors({Tensor::of<std::string>({std::ssize(all)}, all)});
}

Model adapted(const Model&) {
  Model model = sequential({normalization(moments_of(flowers())), dense(8, tanh), dense(3)});
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.05}, .metrics = {accuracy()}});
  return model;
}

}  // namespace

// Those of Keras 3.15.1, Normalization().adapt() of the same file, which sums up in float32, differ by
// 2e-6.
BOOST_AUTO_TEST_CASE(moments_are_those_of_the_data) {
  const Moments moments = moments_of(flowers());
  const std::vector<float> mean{5.8433333F, 3.0573333F, 3.758F, 1.1993333F};
  const std::vector<float> variance{0.6811222F, 0.18871289F, 3.0955027F, 0.57713289F};
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(std::abs(floats(moments.mean)[i] - mean[i]) < 1e-6F);
    BOOST_TEST(std::abs(floats(moments.variance)[i] - variance[i]) < 1e-6F);
  }
  const Tensor far = Tensor::of<double>({4, 1}, {1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3});
  BOOST_TEST(floats(moments_of(far).variance)[0] == 1.25F);
  const Tensor images = Tensor::of<std::uint8_t>({2, 2, 2}, {0, 10, 2, 10, 4, 10, 6, 10});
  BOOST_TEST(floats(moments_of(images).mean) == (std::vector<float>{3, 10}));
  BOOST_TEST(floats(moments_of(images).variance) == (std::vector<float>{5, 0}));
}

BOOST_AUTO_TEST_CASE(normalized_features_have_mean_0_and_deviation_1) {
  Model model = sequential(input({4}), {normalization(moments_of(flowers()))});
  const Tensor normal = model.predict(flowers())[0];
  const Moments moments = moments_of(normal);
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST(std::abs(floats(moments.mean)[i]) < 1e-5F);
    BOOST_TEST(std::abs(floats(moments.variance)[i] - 1) < 1e-5F);
  }
  // A feature that never changes becomes 0, and pixels become floats.
  const Tensor pixels = Tensor::of<std::uint8_t>({2, 2}, {1, 7, 3, 7});
  Model of_pixels = sequential({normalization(moments_of(pixels))});
  of_pixels.build({{DType::uint8, {2}}});
  BOOST_TEST(floats(of_pixels.predict(pixels)) == (std::vector<float>{-1, 0, 1, 0}));
}

BOOST_AUTO_TEST_CASE(moments_are_saved_with_the_model_and_are_not_trained) {
  const Folder folder;
  Model model = adapted(sequential({flatten()}));
  model.fit(flowers().shuffle({.seed = 1}), quiet({.epochs = 20, .batch_size = 10}));
  BOOST_TEST(identical(model.weights().at("normalization/mean"), moments_of(flowers()).mean));
  BOOST_TEST(model.evaluate(flowers()).at("accuracy") > 0.95);
  model.save(folder.path());
  Model loaded = sequential(input({4}), {normalization(), dense(8, tanh), dense(3)});
  loaded.compile({.loss = softmax_cross_entropy()});
  loaded.load(folder.path());
  BOOST_TEST(identical(loaded.predict(flowers())[0], model.predict(flowers())[0]));
  BOOST_TEST(loaded.summary().find("75 parameters, of which 67 are trained") != std::string::npos,
             loaded.summary());
}

BOOST_AUTO_TEST_CASE(each_strategy_trains_with_the_same_moments) {
  const FitOptions options = quiet({.epochs = 2, .batch_size = 10});
  Model alone = adapted(sequential({flatten()}));
  alone.fit(flowers(), options);
  for (const auto& [name, fit] : each_strategy(adapted)) {
    Model model = adapted(alone);
    fit(model, flowers(), options);
    const auto weights = model.weights();
    for (const auto& [variable, value] : alone.weights()) {
      if (variable.starts_with("normalization/"))
        BOOST_TEST(identical(weights.at(variable), value), name << ": " << variable);
      for (std::size_t i = 0; i < value.values<float>().size(); ++i)
        BOOST_TEST(std::abs(floats(weights.at(variable))[i] - floats(value)[i]) < 1e-5F,
                   name << ": " << variable);
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_fall_into_buckets_of_equally_many) {
  std::vector<float> numbers;
  for (int i = 0; i < 100; ++i) numbers.push_back(static_cast<float>(i * 37 % 100));
  const auto rows = Dataset::tensors({Tensor::of<float>({100, 1}, numbers)});
  const auto boundaries = boundaries_of(rows, 4);
  BOOST_TEST(boundaries == (std::vector<float>{25, 50, 75}));
  Model model = sequential(input({3}), {discretization(boundaries)});
  const Tensor x = Tensor::of<float>({2, 3}, {-1, 24.5F, 25, 74, 75, NAN});
  BOOST_TEST(ids(model.predict(x)) == (Ids{0, 0, 1, 2, 3, 0}));
  Model hot = sequential(input({1}),
                         {discretization(boundaries), category_encoding(4, CategoryEncoding::one_hot)});
  BOOST_TEST(floats(hot.predict(Tensor::of<float>({2, 1}, {60, 0}))) ==
             (std::vector<float>{0, 0, 1, 0, 1, 0, 0, 0}));
  BOOST_CHECK_EXCEPTION(discretization({1, 1}), Error, says("each above the one before"));
  BOOST_CHECK_EXCEPTION(boundaries_of(Dataset::tensors({Tensor::of<float>({2}, {1, 1})}), 2), Error,
                        says("almost all are 1"));
}

BOOST_AUTO_TEST_CASE(what_was_adapted_is_exported) {
  const Folder folder;
  const Tensor x = read_all(flowers())[0];
  const SymbolicTensor measures = input({4});
  const SymbolicTensor buckets = discretization(boundaries_of(Dataset::tensors({x}), 5))(measures);
  const SymbolicTensor normal = normalization(moments_of(x))(measures);
  Model model({measures}, {concatenate()({normal, category_encoding(5)(buckets), dot()({normal, normal}),
                                          subtract()({measures, normal})})});
  model.export_onnx(folder.path());
  Graph graph;
  const Signature imported = import_onnx(posix_storage(), folder.file("model.onnx"), graph);
  Session session(graph);
  const Tensor there = session.run(imported.outputs.at("y"), {{imported.inputs.at("x"), x}});
  const Tensor here = model.predict(x);
  BOOST_TEST_REQUIRE(there.describe() == here.describe());
  for (std::size_t i = 0; i < floats(here).size(); ++i)
    BOOST_TEST(std::abs(floats(there)[i] - floats(here)[i]) < 1e-4F);
}

BOOST_AUTO_TEST_CASE(several_categories_are_encoded_together) {
  const Tensor some = Tensor::of<std::int64_t>({2, 3}, {0, 2, 2, -1, 1, -1});
  Model hot = sequential(input({3}, DType::int64), {category_encoding(3)});
  BOOST_TEST(floats(hot.predict(some)) == (std::vector<float>{1, 0, 1, 0, 1, 0}));
  Model counts = sequential(input({3}, DType::int64), {category_encoding(3, CategoryEncoding::count)});
  BOOST_TEST(floats(counts.predict(some)) == (std::vector<float>{1, 0, 2, 0, 1, 0}));
}

// As Keras orders them: counts 3, 2, 2, 1, and of equal counts the last text first.
BOOST_AUTO_TEST_CASE(texts_become_ids_by_how_frequent_they_are) {
  const Dataset rows = texts({"rose", "iris", "daisy", "iris", "rose", "iris", "daisy", "tulip, red\n"});
  const StringLookup lookup = StringLookup::adapt(rows);
  BOOST_TEST(lookup.vocabulary() == (Words{"iris", "rose", "daisy", "tulip, red\n"}));
  BOOST_TEST(lookup.size() == 5);
  BOOST_TEST(ids(lookup(Tensor::of<std::string>({3}, Words{"daisy", "Iris", "iris"}))) ==
             (Ids{3, 0, 1}));
  BOOST_TEST(StringLookup::adapt(rows, {.max_tokens = 3}).vocabulary() == (Words{"iris", "rose"}));
  const Tuple mapped = read_all(rows.map(lookup.of_component(0)));
  BOOST_TEST(ids(mapped[0]) == (Ids{2, 1, 3, 1, 2, 1, 3, 4}));
  const Folder folder;
  lookup.save(posix_storage(), folder.path(), "flower");
  BOOST_TEST((StringLookup::load(posix_storage(), folder.path(), "flower") == lookup));
  std::ofstream(folder.file("flower.vocabulary")) << "id,text\n1,iris\n3,rose\n";
  BOOST_CHECK_EXCEPTION(StringLookup::load(posix_storage(), folder.path(), "flower"), Error,
                        says("expected the id 2 of 'rose', got 3"));
}

BOOST_AUTO_TEST_CASE(sentences_become_sequences_of_ids) {
  BOOST_TEST(TextVectorization::words_of(" To be, or NOT\tto be: that's\n(the) question! ") ==
             (Words{"to", "be", "or", "not", "to", "be", "thats", "the", "question"}));
  const auto lines =
      Dataset::lines({std::string(ACTORFLOW_SOURCE_DIR) + "/apps/data/shakespeare/shakespeare.txt"});
  const auto words = TextVectorization::adapt(lines, {.length = 4, .max_tokens = 1000});
  BOOST_TEST(words.size() == 1000);
  // Those of Keras 3.15.1, TextVectorization(max_tokens=1000), of the same file.
  const auto& vocabulary = words.words().vocabulary();
  BOOST_TEST(Words(vocabulary.begin(), vocabulary.begin() + 10) ==
             (Words{"the", "and", "to", "i", "you", "of", "a", "that", "in", "he"}));
  BOOST_TEST(Words(vocabulary.end() - 5, vocabulary.end()) ==
             (Words{"disease", "devise", "desires", "deserves", "defend"}));
  const Tensor both =
      words(Tensor::of<std::string>({2}, Words{"The king, the queen, the fool", "xyzzy"}));
  BOOST_TEST(both.describe() == "int64[2,4]");
  BOOST_TEST(ids(both) == (Ids{2, 161, 2, 112, 1, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_adapted_is_named) {
  BOOST_CHECK_EXCEPTION(moments_of(flowers(), 2), Error, says("a component below 2, got 2"));
  BOOST_CHECK_EXCEPTION(moments_of(texts({"a"})), Error, says("StringLookup::adapt() is for texts"));
  BOOST_CHECK_EXCEPTION(StringLookup::adapt(flowers()), Error, says("expected strings, got float32"));
  BOOST_CHECK_EXCEPTION(moments_of(flowers().take(0)), Error, says("no examples"));
  BOOST_CHECK_EXCEPTION(moments_of(Tensor::of<float>({2, 2}, {1, 2, 3, NAN})), Error,
                        says("component 0 of example 1, counted from 0, has nan"));
  Model model = sequential(input({3}), {normalization(moments_of(flowers()))});
  BOOST_CHECK_EXCEPTION(model.build(), Error,
                        says("of 4 features, but the input has 3 along its last axis"));
  BOOST_CHECK_EXCEPTION(read_all(texts({"a"}).map(StringLookup({"a"}).of_component(1))), Error,
                        says("a component below 1, got 1"));
  BOOST_CHECK_EXCEPTION(StringLookup({"a", "b", "a"}), Error, says("'a' occurs twice"));
}

BOOST_AUTO_TEST_SUITE_END()
