// Layers by their names: their weights, and what is frozen.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <map>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/images/fast_net.h"
#include "actors/models/model.h"
#include "actors/runtime/storage.h"
#include "test/models/support/each_strategy.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(transfer)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Names = std::vector<std::string>;

// What the first two layers know stays; the penalty of a frozen layer is none.
Model half_frozen(const Model&) {
  Model model = sequential(input({1}), {dense(6, tanh, {.regularizer = l2(1)}), batch_norm(), dense(1)});
  model.get_layer("dense").set_trainable(false);
  model.get_layer("batch_norm").set_trainable(false);
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  return model;
}

Model pretrained() {
  Model model = sequential({dense(6, tanh), dense(3, tanh), dense(1).named("head")});
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  const auto [x, y] = points_of_a_line(12);
  model.fit({x, y}, quiet({.epochs = 5, .batch_size = 4}));
  return model;
}

std::map<std::string, Tensor> weights_of(Model& model, const std::string& layer) {
  return model.get_layer(layer).weights();
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_new_head_learns_on_frozen_layers_that_were_saved) {
  const Folder folder;
  Model saved = pretrained();
  saved.save(folder.path());
  Model base = sequential(input({1}), {dense(6, tanh), dense(3, tanh), dense(1).named("head")});
  base.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  base.load(folder.path());

  Model model(base.architecture().inputs,
              {dense(2).named("new_head")(base.get_layer("dense_1").output())});
  BOOST_TEST(model.layer_names() == (Names{"dense", "dense_1", "new_head"}),
             boost::test_tools::per_element());
  for (const char* layer : {"dense", "dense_1"}) {
    model.get_layer(layer).set_weights(base.get_layer(layer).weights());
    model.get_layer(layer).set_trainable(false);
  }
  model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  const auto [x, y] = points_of_a_line(12);
  const Tensor two = Tensor::zeros(DType::float32, {12, 2});
  const auto head = weights_of(model, "new_head");
  const auto history = model.fit({x, two}, quiet({.epochs = 20, .batch_size = 4}));
  BOOST_TEST(history.of("loss").back() < history.of("loss").front() / 2);
  for (const char* layer : {"dense", "dense_1"})
    BOOST_TEST(same(weights_of(model, layer), weights_of(saved, layer)), layer);
  BOOST_TEST(!same(weights_of(model, "new_head"), head));

  model.get_layer("dense_1").set_trainable(true);
  model.fit({x, two}, quiet({.batch_size = 4}));
  BOOST_TEST(same(weights_of(model, "dense"), weights_of(saved, "dense")));
  BOOST_TEST(!same(weights_of(model, "dense_1"), weights_of(saved, "dense_1")));
}

BOOST_AUTO_TEST_CASE(frozen_layers_stay_under_each_strategy) {
  const auto [x, y] = points_of_a_line(10);
  const FitOptions options = quiet({.epochs = 3, .batch_size = 4});
  Model alone = half_frozen(pretrained());
  const auto before = alone.weights();
  alone.fit({x, y}, options);
  for (const auto& [name, fit] : each_strategy(half_frozen)) {
    Model model = half_frozen(alone);
    for (int call = 0; call < 2; ++call) {  // the second one takes over the slots of the first
      fit(model, {x, y}, options);
      const auto weights = model.weights();
      for (const auto& [variable, value] : before)
        BOOST_TEST(identical(weights.at(variable), value) == !variable.starts_with("dense_1/"),
                   name << ": " << variable);
      if (call > 0) continue;
      for (const auto& [variable, value] : alone.weights())
        for (std::size_t i = 0; i < value.values<float>().size(); ++i)
          BOOST_TEST(
              std::abs(weights.at(variable).values<float>()[i] - value.values<float>()[i]) < 1e-5F,
              name << ": " << variable);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_frozen_layer_is_counted_as_one_and_has_no_slots) {
  const Folder folder;
  Model model = half_frozen(pretrained());
  const std::string summary = model.summary();
  BOOST_TEST(summary.find("43 parameters, of which 7 are trained") != summary.npos, summary);
  BOOST_TEST(summary.find("frozen") != summary.npos, summary);
  const auto [x, y] = points_of_a_line(10);
  model.fit({x, y}, quiet({.batch_size = 5, .callbacks = {model_checkpoint(folder.path())}}));
  const auto saved = load_latest_checkpoint(posix_storage(), folder.path());
  BOOST_TEST_REQUIRE(saved.has_value());
  int of_frozen = 0, of_head = 0;
  for (const auto& [name, value] : saved->tensors) {
    of_frozen += name.find("dense/weights") != name.npos ? 1 : 0;
    of_head += name.find("dense_1/weights") != name.npos ? 1 : 0;
  }
  BOOST_TEST(of_frozen == 1);
  BOOST_TEST(of_head > 1);
}

BOOST_AUTO_TEST_CASE(a_change_of_what_learns_keeps_the_learning_rate) {
  Model model = half_frozen(pretrained());
  model.set_learning_rate(0.25);
  model.get_layer("dense").set_trainable(true);
  BOOST_TEST(model.learning_rate() == 0.25);
  model.set_learning_rate(0.125);
  model.get_layer("dense").set_trainable(false);
  BOOST_TEST(model.learning_rate() == 0.125);
}

BOOST_AUTO_TEST_CASE(frozen_blocks_of_the_fast_net_keep_their_averages) {
  const Tensor whitening = Tensor::zeros(DType::float32, {2, 2, 1, 8});
  Model model(fast_net(whitening, {.image = {9, 9, 1}, .classes = 2, .channels = {8, 8, 8}}));
  model.compile({.loss = softmax_cross_entropy(), .optimizer = Sgd{0.1}});
  for (const std::string& name : model.layer_names())
    if (name.starts_with("block")) model.get_layer(name).set_trainable(false);
  model.build();
  const auto before = model.weights();
  Tensor images = Tensor::zeros(DType::float32, {2, 9, 9, 1});
  images.mutable_values<float>()[3] = 1;
  model.fit({images, Tensor::of<std::int64_t>({2}, {0, 1})}, quiet({.batch_size = 2}));
  int blocks = 0;
  for (const auto& [name, value] : model.weights()) {
    if (!name.starts_with("block")) continue;
    BOOST_TEST(identical(value, before.at(name)), name);
    ++blocks;
  }
  BOOST_TEST(blocks > 6);
}

// In a callback it would take away the graph that fit() runs.
BOOST_AUTO_TEST_CASE(nothing_that_changes_the_graph_is_done_within_fit) {
  using Change = std::function<void(Model&)>;
  const auto [x, y] = points_of_a_line(4);
  const std::map<std::string, Change> changes{
      {"set_trainable", [](Model& model) { model.get_layer("dense").set_trainable(true); }},
      {"compile", [](Model& model) { model.compile({.loss = mean_squared_error()}); }},
      {"train_on_batch",
       [&](Model& model) {
         model.train_on_batch({x, y});
       }},
      {"fit",
       [&](Model& model) {
         model.fit({x, y}, quiet({}));
       }},
  };
  for (const auto& [name, change] : changes)
    for (const bool begun : {false, true}) {
      Model model = half_frozen(pretrained());
      const auto at_begin = [&](FitContext& training) { change(training.model()); };
      const auto at_end = [&](FitContext& training, int, Logs&) { change(training.model()); };
      const auto hook =
          begun ? callback({.on_epoch_end = at_end}) : callback({.on_train_begin = at_begin});
      BOOST_CHECK_EXCEPTION(model.fit({x, y}, quiet({.batch_size = 2, .callbacks = {hook}})), Error,
                            says(name + ": fit() trains the model now"));
      model.fit({x, y}, quiet({.batch_size = 2}));
    }
}

BOOST_AUTO_TEST_CASE(penalties_of_frozen_layers_do_not_count) {
  Model model =
      sequential(input({2}), {dense(1, {}, {.bias = false, .weights = ones(), .regularizer = l2(0.5)})});
  model.compile({.loss = mean_squared_error()});
  const Tensor x = Tensor::of<float>({1, 2}, {1, 1}), y = Tensor::of<float>({1, 1}, {0});
  BOOST_TEST(model.evaluate({x, y}).at("loss") == 5.0, boost::test_tools::tolerance(1e-6));
  model.get_layer("dense").set_trainable(false);
  BOOST_TEST(model.evaluate({x, y}).at("loss") == 4.0, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(layers_within_a_frozen_layer_are_frozen) {
  const Layer block("block", [norm = batch_norm(), inner = dense(2)](LayerScope& scope, Output x) {
    return scope.apply(norm, scope.apply(inner, x));
  });
  Model model = sequential(input({1}), {block, dense(1)});
  model.get_layer("block").set_trainable(false);
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.1}});
  const auto before = weights_of(model, "block");
  BOOST_TEST(before.contains("dense/weights"));
  const auto [x, y] = points_of_a_line(8);
  model.fit({x, y}, quiet({.epochs = 2, .batch_size = 4}));
  BOOST_TEST(same(weights_of(model, "block"), before));
}

// Of a model that has learned its inputs from data, without an input().
BOOST_AUTO_TEST_CASE(a_model_is_made_of_layers_of_a_trained_one) {
  Model base = pretrained();
  const auto [x, y] = points_of_a_line(12);
  const auto said = base.predict(x);
  BOOST_TEST((base.architecture().inputs[0].def().type == TensorType{DType::float32, {1}}));

  Model features(base.architecture().inputs, {base.get_layer("dense_1").output()});
  BOOST_TEST(features.copy_weights(base) == (Names{"dense", "dense_1"}),
             boost::test_tools::per_element());
  BOOST_TEST(features.predict(x).describe() == "float32[12,3]");
  const Layer head = base.architecture().outputs[0].def().layer.value();
  Model again(features.architecture().inputs, {head(features.architecture().outputs[0])});
  BOOST_TEST(again.copy_weights(base) == (Names{"dense", "dense_1", "head"}),
             boost::test_tools::per_element());
  BOOST_TEST(identical(again.predict(x), said));

  // The names of layers may differ: here the first is the second, after a new one.
  const SymbolicTensor wide = input({1});
  Model other(
      {wide},
      {head(base.architecture().outputs[0].def().inputs[0].def().layer.value()(dense(6)(wide)))});
  BOOST_TEST(other.copy_weights(base) == (Names{"dense_1", "head"}), boost::test_tools::per_element());
  BOOST_TEST(same(weights_of(other, "dense_1"), weights_of(base, "dense_1")));

  base.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  base.fit({x, y}, quiet({.epochs = 2, .batch_size = 4}));  // it trains as before
  Model unrelated = sequential(input({1}), {dense(1)});
  BOOST_CHECK_EXCEPTION(unrelated.copy_weights(base), Error, says("the models share no layer"));
}

BOOST_AUTO_TEST_CASE(what_is_learned_under_a_strategy_gives_a_model_its_inputs) {
  Model base = sequential({dense(4, tanh), dense(1)});
  base.compile({.loss = mean_squared_error(), .optimizer = Adam{0.05}});
  const auto [x, y] = points_of_a_line(12);
  base.fit({x, y}, quiet({.batch_size = 4, .strategy = Mirrored{2}}));
  Model features(base.architecture().inputs, {base.get_layer("dense").output()});
  features.copy_weights(base);
  BOOST_TEST(features.predict(x).describe() == "float32[12,4]");
}

BOOST_AUTO_TEST_CASE(what_layers_cannot_do_is_refused_by_name) {
  Model model = pretrained();
  BOOST_CHECK_EXCEPTION(model.get_layer("convolution"), Error,
                        says("no layer 'convolution'; its layers are dense, dense_1, head"));
  auto weights = weights_of(model, "head");
  const auto set = [&] { model.get_layer("head").set_weights(weights); };
  weights["weights"] = Tensor::zeros(DType::float32, {4, 1});
  BOOST_CHECK_EXCEPTION(set(), Error, says("'head/weights' is float32[3,1], got float32[4,1]"));
  weights.erase("weights");
  BOOST_CHECK_EXCEPTION(set(), Error, says("'head/weights' is missing"));
  weights = weights_of(model, "head");
  weights["scale"] = Tensor::zeros(DType::float32, {1});
  BOOST_CHECK_EXCEPTION(set(), Error, says("the model has no 'head/scale'"));

  Architecture frozen = chain({dense(6), dense(1).named("head")}, input({1}));
  frozen.frozen = {"dense", "dense_7"};
  const auto expect_unknown = [](auto&& use) {
    BOOST_CHECK_EXCEPTION(use(), Error,
                          says("no layer 'dense_7' that could be frozen; its layers are dense, head"));
  };
  expect_unknown([&] { Model{frozen}; });
  expect_unknown([&] {
    Graph graph;
    ModelVariables variables;
    ModelPass pass{.graph = graph, .variables = variables};
    frozen.build(pass, {graph.placeholder(DType::float32, {Shape::unknown, 1})});
  });

  const Layer twice = dense(1);
  Model shared = sequential({twice, twice});
  BOOST_CHECK_EXCEPTION(shared.get_layer("dense").output(), Error,
                        says("uses the layer 'dense' 2 times"));

  for (const std::string& name : model.layer_names()) model.get_layer(name).set_trainable(false);
  const auto [x, y] = points_of_a_line(8);
  BOOST_CHECK_EXCEPTION(model.fit({x, y}, quiet({.batch_size = 8})), Error,
                        says("all layers of the model are frozen"));
  BOOST_CHECK_EXCEPTION(model.fit({x, y}, quiet({.batch_size = 8, .strategy = Mirrored{2}})), Error,
                        says("all layers of the model are frozen"));
  model.get_layer("head").set_trainable(true);
  const auto freeze = callback({.on_epoch_end = [](FitContext& training, int, Logs&) {
    training.model().get_layer("head").set_trainable(false);
  }});
  BOOST_CHECK_EXCEPTION(
      model.fit({x, y}, quiet({.batch_size = 8, .callbacks = {freeze}, .strategy = Mirrored{2}})), Error,
      says("set_trainable: fit() trains the model now"));
}

BOOST_AUTO_TEST_SUITE_END()
