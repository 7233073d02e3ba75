// Models of sequences: masks, strategies, files, and what is refused. Their numbers are Keras'
// (keras_sequences.cpp).
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <thread>

#include "actors/client/session.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/models/text/character_lstm.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(sequences)

using namespace actorflow;
using namespace actorflow::test;

namespace {

constexpr std::int64_t examples = 22, batch = 8, length = 5, words = 7;

// Ids [examples, length], of which example i has 1 + i % length; 0 in the place of the others.
Tensor texts() {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < examples; ++i)
    for (std::int64_t k = 0; k < length; ++k)
      ids.push_back(k <= i % length ? 1 + (i * 3 + k * k) % (words - 1) : 0);
  return Tensor::of<std::int64_t>({examples, length}, ids);
}

Tensor labels() { return points_of_a_line(examples).second; }

Architecture reader() {
  return chain({embedding(words, 4, {.mask_zero = true}),
                bidirectional(lstm(3, {.return_sequences = true})), layer_norm(), gru(4), dense(1)},
               input({length}, DType::int64));
}

CompileOptions plain() {
  return {.loss = mean_squared_error(), .optimizer = Adam{0.02}, .clip_global_norm = 1};
}

std::map<std::string, Tensor> trained(const Distribution& strategy) {
  Model model(reader());
  model.compile(plain());
  model.fit({texts(), labels()},
            quiet({.epochs = 3, .batch_size = batch, .shuffle = false, .strategy = strategy}));
  return is_chief(strategy) ? model.weights() : std::map<std::string, Tensor>();
}

double distance(const std::map<std::string, Tensor>& a, const std::map<std::string, Tensor>& b) {
  double most = a.size() == b.size() && !a.empty() ? 0 : INFINITY;
  for (const auto& [name, tensor] : a) {
    const auto x = tensor.values<float>(), y = b.at(name).values<float>();
    for (std::size_t i = 0; i < x.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  }
  return most;
}

// What layers make of two texts of 2 words, and of the same with 3 zeros behind them.
void expect_padding_changes_nothing(const std::vector<Layer>& layers) {
  std::vector<Layer> all{embedding(words, 4, {.mask_zero = true})};
  all.insert(all.end(), layers.begin(), layers.end());
  Model model = sequential(input({2}, DType::int64), all);
  Model padded = sequential(input({5}, DType::int64), all);
  padded.set_weights(model.weights());
  const Tensor short_ones = model.predict(Tensor::of<std::int64_t>({2, 2}, {3, 1, 6, 2}));
  const Tensor long_ones =
      padded.predict(Tensor::of<std::int64_t>({2, 5}, {3, 1, 0, 0, 0, 6, 2, 0, 0, 0}));
  BOOST_TEST_REQUIRE(short_ones.describe() == long_ones.describe());
  for (std::size_t i = 0; i < short_ones.values<float>().size(); ++i)
    BOOST_TEST(std::abs(short_ones.values<float>()[i] - long_ones.values<float>()[i]) < 1e-6);
}

}  // namespace

BOOST_AUTO_TEST_CASE(steps_that_are_none_change_nothing) {
  expect_padding_changes_nothing({lstm(3)});
  expect_padding_changes_nothing({dropout(0.5), dense(4, tanh), gru(3, {.go_backwards = true})});
  expect_padding_changes_nothing(
      {bidirectional(simple_rnn(3, {.return_sequences = true})), global_avg_pool()});
  expect_padding_changes_nothing({attention(2, 3), lstm(3)});
  expect_padding_changes_nothing({lstm(4, {.return_sequences = true}), attention(1, 2), batch_norm(),
                                  activation(relu), global_avg_pool()});
}

BOOST_AUTO_TEST_CASE(layers_that_change_the_steps_end_a_mask) {
  const auto mask_of = [](const std::vector<Layer>& layers) {
    bool has_mask = true;
    std::vector<Layer> all{embedding(words, 4, {.mask_zero = true})};
    all.insert(all.end(), layers.begin(), layers.end());
    all.push_back({"watcher", [&](LayerScope& scope, Output x) {
                     has_mask = static_cast<bool>(scope.mask(x));
                     return x;
                   }});
    Model model = sequential(input({4}, DType::int64), all);
    model.build();
    return has_mask;
  };
  BOOST_TEST(mask_of({}));
  BOOST_TEST(mask_of({dense(3), lstm(2, {.return_sequences = true}), dropout(0.1)}));
  BOOST_TEST(!mask_of({lstm(2)}));
  BOOST_TEST(!mask_of({permute({2, 1})}));  // four steps of four features
  BOOST_TEST(!mask_of({conv1d(2, 3, {}, {.padding = SeriesPadding::same})}));
  BOOST_TEST(!mask_of({max_pool1d(1)}));
  BOOST_TEST(!mask_of({reshape({4, 4})}));
  BOOST_TEST(!mask_of({flatten()}));
}

// Two branches: a step counts that one of them has, and none where a branch has no mask.
BOOST_AUTO_TEST_CASE(masks_of_several_inputs_are_joined) {
  const Layer watcher{"watcher", [](LayerScope& scope, Output x) {
                        const Output mask = scope.mask(x);
                        return mask ? x * cast(expand_dims(mask, {2}), DType::float32) : x * 10.0;
                      }};
  const Layer table = embedding(words, 1, {.initial = ones(), .mask_zero = true});
  const SymbolicTensor a = input({3}, DType::int64), b = input({3}, DType::int64);
  Model model({a, b}, {watcher(add()({table(a), table(b)})),
                       watcher(add()({table(a), embedding(words, 1, ones()).named("other")(b)}))});
  const auto results = model.predict(
      {Tensor::of<std::int64_t>({1, 3}, {1, 0, 0}), Tensor::of<std::int64_t>({1, 3}, {2, 2, 0})});
  const std::vector<float> joined{2, 2, 0}, none{20, 20, 20};
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST(results[0].values<float>()[i] == joined[i]);
    BOOST_TEST(results[1].values<float>()[i] == none[i]);
  }
}

// Its masked steps would cost 1 and 4.
BOOST_AUTO_TEST_CASE(the_loss_is_the_mean_over_steps_that_are_there) {
  Model model = sequential(input({3, 1}), {masking(9), dense(1, {}, {.weights = ones()})});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.0}});
  const Tensor x = Tensor::of<float>({2, 3, 1}, {1, 9, 9, 2, 3, 9});
  const Tensor y = Tensor::of<float>({2, 3, 1}, {0, 1, 2, 0, 0, 2});
  const double loss = model.evaluate({x, y}, {.batch_size = 2}).at("loss");
  BOOST_TEST(std::abs(loss - (1.0 + 4 + 9) / 3) < 1e-6);
}

BOOST_AUTO_TEST_CASE(replicas_learn_what_one_device_learns) {
  const auto alone = trained(OneDevice{});
  BOOST_TEST(distance(trained(Mirrored{2}), alone) < 1e-5);
  for (const int replicas : {2, 4}) {
    LocalCluster cluster({{"worker", replicas}});
    std::map<std::string, Tensor> chiefs;
    run_on_threads(cluster, replicas, [&](int task) {
      auto weights = trained(MultiWorkerMirrored{cluster.server("worker", task)});
      if (task == 0) chiefs = std::move(weights);
    });
    BOOST_TEST(distance(chiefs, alone) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(parameter_servers_learn_it_too) {
  // Without clipping, which is of each replica's own gradient there.
  const auto fit = [](const Distribution& strategy) {
    Model model(reader());
    model.compile({.loss = mean_squared_error(), .optimizer = Adam{0.02}});
    model.fit({texts(), labels()},
              quiet({.epochs = 2, .batch_size = batch, .shuffle = false, .strategy = strategy}));
    return is_chief(strategy) ? model.weights() : std::map<std::string, Tensor>();
  };
  LocalCluster cluster({{"ps", 1}, {"worker", 2}});
  std::map<std::string, Tensor> chiefs;
  {
    std::vector<std::jthread> others;
    for (const auto& [job, task] : {std::pair{"ps", 0}, {"worker", 1}})
      others.emplace_back(
          [&, job = job, task = task] { fit(ParameterServer{cluster.server(job, task)}); });
    chiefs = fit(ParameterServer{cluster.server("worker", 0)});
  }
  BOOST_TEST(distance(chiefs, fit(OneDevice{})) < 1e-5);
}

// A mask goes from stage to stage.
BOOST_AUTO_TEST_CASE(a_pipeline_gets_the_bits_of_gradient_accumulation) {
  FitOptions options = quiet({.epochs = 2, .batch_size = batch, .shuffle = false});
  options.gradient_accumulation_steps = 4;
  Model accumulated(reader());
  accumulated.compile(plain());
  accumulated.fit({texts(), labels()}, options);
  for (int stages = 1; stages <= 3; ++stages) {
    Model model(reader());
    model.compile(plain());
    model.fit({texts(), labels()},
              quiet({.epochs = 2,
                     .batch_size = batch,
                     .shuffle = false,
                     .strategy = Pipeline{{.stages = stages, .micro_batches = 4}}}));
    BOOST_TEST(same(model.weights(), accumulated.weights()), stages << " stages");
  }
}

BOOST_AUTO_TEST_CASE(saved_models_predict_the_same) {
  const Folder folder;
  Model model(reader()), loaded(reader());
  model.compile(plain());
  model.fit({texts(), labels()}, quiet({.epochs = 2, .batch_size = batch}));
  model.save(folder.path());
  loaded.compile(plain());
  loaded.load(folder.path());
  BOOST_TEST(identical(model.predict(texts()), loaded.predict(texts())));
  BOOST_TEST(model.summary().find("bidirectional") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(dropout_leaves_out_features_of_all_steps) {
  Model model = sequential(
      input({6, 2}), {simple_rnn(2, {.return_sequences = true, .dropout = 0.5, .activation = {}})});
  model.compile({.loss = {{"first", [](Output p, Output) { return p; }}}, .optimizer = Sgd{0.0}});
  // Without recurrence a result is the weight of each feature that is there, times 2.
  model.set_weights({{"simple_rnn/weights", Tensor::of<float>({2, 2}, {1, 0, 0, 1})},
                     {"simple_rnn/recurrent_weights", Tensor::zeros(DType::float32, {2, 2})},
                     {"simple_rnn/biases", Tensor::zeros(DType::float32, {2})}});
  const Tensor x = Tensor::of<float>({1, 6, 2}, std::vector<float>(12, 1));
  std::set<double> losses;
  for (int step = 0; step < 20; ++step)
    losses.insert(model.fit({x, x}, quiet({.epochs = 1, .batch_size = 1})).of("loss")[0]);
  // Both features, one, or none: never a part of the steps.
  for (const double loss : losses) BOOST_TEST((loss == 0 || loss == 1 || loss == 2));
  BOOST_TEST(losses.size() > 1U);
}

BOOST_AUTO_TEST_CASE(recurrent_weights_begin_orthogonal_and_forget_gates_open) {
  Model model = sequential(input({3, 2}), {lstm(5), repeat_vector(2), simple_rnn(4)});
  const auto weights = model.weights();
  const auto rows = [&](const std::string& name, std::int64_t units, std::int64_t width) {
    const auto w = weights.at(name).values<float>();
    for (std::int64_t i = 0; i < units; ++i)
      for (std::int64_t k = 0; k <= i; ++k) {
        double product = 0;
        for (std::int64_t j = 0; j < width; ++j)
          product += static_cast<double>(w[static_cast<std::size_t>(i * width + j)]) *
                     static_cast<double>(w[static_cast<std::size_t>(k * width + j)]);
        BOOST_TEST(std::abs(product - (i == k ? 1 : 0)) < 1e-4);
      }
  };
  rows("lstm/recurrent_weights", 5, 20);
  rows("simple_rnn/recurrent_weights", 4, 4);
  const auto biases = weights.at("lstm/biases").values<float>();
  for (std::size_t i = 0; i < 20; ++i) BOOST_TEST(biases[i] == (i / 5 == 1 ? 1 : 0));
}

BOOST_AUTO_TEST_CASE(layers_of_characters_foretell_a_text_that_repeats) {
  constexpr std::int64_t characters = 3, context = 6;
  std::vector<std::int64_t> now, next;
  for (std::int64_t i = 0; i < 8 * context; ++i) {
    now.push_back(i % characters);
    next.push_back((i + 1) % characters);
  }
  Model model(character_lstm(characters, {.context = context, .width = 8}));
  CompileOptions options = compile_options(CharacterLstmRecipe{.steps = 80, .learning_rate = 0.05});
  options.metrics = {accuracy()};
  model.compile(options);
  const Tensor x = Tensor::of<std::int64_t>({8, context}, now),
               y = Tensor::of<std::int64_t>({8, context}, next);
  BOOST_TEST(model.fit({x, y}, quiet({.epochs = 80, .batch_size = 8})).of("accuracy").back() == 1);
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  const auto building = [](const Layer& layer, const Shape& example, DType dtype = DType::float32) {
    return [=] {
      Model model = sequential(input(example, dtype), {layer});
      model.build();
    };
  };
  BOOST_CHECK_EXCEPTION(lstm(0), Error, says("lstm"));
  BOOST_CHECK_EXCEPTION(gru(3, {.dropout = 1}), Error, says("dropout"));
  BOOST_CHECK_EXCEPTION(lstm(3, {.activation = gelu}), Error, says("tanh, relu, sigmoid or none"));
  BOOST_CHECK_EXCEPTION(building(lstm(3), {4})(), Error, says("[batch, steps, features]"));
  BOOST_CHECK_EXCEPTION(building(conv1d(3, 5), {4, 2})(), Error, says("at least 5 steps"));
  BOOST_CHECK_EXCEPTION(conv1d(3, 2, {}, {.strides = 2, .dilation = 2}), Error, says("dilation"));
  BOOST_CHECK_EXCEPTION(building(embedding(3, 2, {.mask_zero = true}), {2, 2}, DType::int64)(), Error,
                        says("[batch, length]"));
}

BOOST_AUTO_TEST_SUITE_END()
