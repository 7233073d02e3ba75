// fit() by a pipeline of stages, beside one device that accumulates the gradients of the same
// micro-batches.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <mutex>
#include <new>

#include "actors/layers/network_builder.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/pipeline/layer_costs.h"
#include "actors/models/model.h"
#include "actors/models/pipeline/stages.h"
#include "actors/runtime/threaded_runtime.h"
#include "kernels/ops.h"
#include "kernels/ops/learning_rate.h"
#include "test/models/support/by_hand.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(pipeline)

using namespace actorflow;
using namespace actorflow::test;

namespace {

// 22 examples in batches of 8: the last one has 6, of which a fourth micro-batch gets none.
constexpr std::int64_t examples = 22, batch = 8;
constexpr int parts = 4, epochs = 3;

Architecture perceptron() { return chain({dense(7, tanh), dense(6, relu), dense(5, tanh), dense(1)}); }

// Images of 8x8 in two colours, with averages and chance in the middle.
Architecture small_cnn() {
  return chain({conv2d(4, 3, {}, {.bias = false}), batch_norm({.relu = true}), max_pool(),
                conv2d(6, 3, relu), dropout(0.2), batch_norm(), flatten(), dense(1)});
}

CompileOptions plain(OptimizerChoice optimizer = Momentum{0.05, 0.9}) {
  return {.loss = mean_squared_error(),
          .optimizer = std::move(optimizer),
          .metrics = {metric_of(mean_absolute_error())}};
}

std::pair<Tensor, Tensor> images() {
  constexpr std::int64_t pixels = 8 * 8 * 2;
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < examples; ++i) {
    float sum = 0;
    for (std::int64_t k = 0; k < pixels; ++k) {
      x.push_back(std::sin(static_cast<float>(i * pixels + k) * 0.37F));
      sum += x.back();
    }
    y.push_back(sum / 10);
  }
  return {Tensor::of<float>({examples, 8, 8, 2}, x), Tensor::of<float>({examples, 1}, y)};
}

FitOptions by(Distribution strategy) {
  return quiet(
      {.epochs = epochs, .batch_size = batch, .shuffle = false, .strategy = std::move(strategy)});
}

FitOptions accumulated() {
  FitOptions options = by(OneDevice{});
  options.gradient_accumulation_steps = parts;
  return options;
}

Pipeline in_stages(int stages, PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward) {
  return Pipeline{{.stages = stages, .micro_batches = parts, .schedule = schedule}};
}

struct Trained {
  History history;
  std::map<std::string, Tensor> weights;
};

Trained train(const Architecture& architecture, const CompileOptions& compile, const TrainingData& data,
              const FitOptions& options) {
  Model model(architecture);
  model.compile(compile);
  History history = model.fit(data, options);
  return {std::move(history), model.weights()};
}

void expect_bits(const Architecture& architecture, const CompileOptions& compile, const Tensor& x,
                 const Tensor& y) {
  const auto expected = train_by_hand(architecture, compile, x, y, epochs, batch, parts);
  BOOST_TEST(same(train(architecture, compile, {x, y}, accumulated()).weights, expected));
  for (const auto schedule : {PipelineSchedule::gpipe, PipelineSchedule::one_forward_one_backward})
    for (int stages = 1; stages <= 4; ++stages)
      BOOST_TEST(
          same(train(architecture, compile, {x, y}, by(in_stages(stages, schedule))).weights, expected),
          stages << " stages, " << to_string(schedule));
}

void expect_close(const Trained& ours, const Trained& theirs, float limit) {
  for (const char* name : {"loss", "mean_absolute_error"})
    for (std::size_t epoch = 0; epoch < epochs; ++epoch)
      BOOST_TEST(std::abs(ours.history.of(name).at(epoch) - theirs.history.of(name).at(epoch)) < limit,
                 name << " of epoch " << epoch + 1);
  for (const auto& [name, value] : theirs.weights)
    for (std::size_t i = 0; i < value.values<float>().size(); ++i)
      BOOST_TEST(std::abs(ours.weights.at(name).values<float>()[i] - value.values<float>()[i]) < limit,
                 name);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_perceptron_gets_the_bits_of_gradient_accumulation) {
  const auto [x, y] = points_of_a_line(examples);
  expect_bits(perceptron(), plain(), x, y);
}

BOOST_AUTO_TEST_CASE(a_network_with_averages_and_chance_gets_them_too) {
  const auto [x, y] = images();
  expect_bits(small_cnn(), plain(Adam{0.01}), x, y);
}

BOOST_AUTO_TEST_CASE(averages_may_be_assigned_as_well_as_added_to) {
  const Layer watched{"watched", [](LayerScope& scope, Output x) {
                        const Variable seen = scope.average("seen", {}, zeros());
                        if (scope.training())
                          scope.update(scope.graph().assign(seen, seen.value() * 0.5 + mean(x)));
                        return x;
                      }};
  const auto [x, y] = points_of_a_line(examples);
  expect_bits(chain({dense(7, tanh), watched, dense(6, relu), dense(1)}), plain(), x, y);
}

BOOST_AUTO_TEST_CASE(micro_batches_teach_what_the_whole_batch_teaches) {
  const auto [x, y] = points_of_a_line(examples);
  const TrainingData data{x, y};
  const Trained whole = train(perceptron(), plain(), data, by(OneDevice{}));
  expect_close(train(perceptron(), plain(), data, accumulated()), whole, 1e-5F);
  expect_close(train(perceptron(), plain(), data, by(in_stages(2))), whole, 1e-5F);
}

// Branches, a skip over stages, a layer used twice, an output in the middle, penalties, a loss of a
// layer, weights of examples, clipping and a schedule.
BOOST_AUTO_TEST_CASE(what_a_model_may_have_keeps_its_meaning) {
  const Layer penalised{"penalised", [](LayerScope& scope, Output x) {
                          scope.add_loss(mean(square(x)) * 0.1);
                          return x;
                        }};
  const Layer twice = dense(4, tanh).named("twice");
  const SymbolicTensor a = input({1}), b = input({1});
  const SymbolicTensor first = dense(4, tanh, {.regularizer = l2(0.01)})(a);
  const SymbolicTensor middle = penalised(twice(twice(first)));
  const SymbolicTensor joined = add()({dense(4)(b), middle, first});
  const SymbolicTensor early = dense(1)(first);
  const Architecture architecture{{a, b}, {dense(1, {}, {.regularizer = l1(0.01)})(joined), early}};
  const CompileOptions compile{
      .loss = {mean_squared_error(), mean_absolute_error()},
      .loss_weights = {1, 0.5},
      .optimizer = Adam{0.01},
      .learning_rate = [](Output step) { return exponential_decay(0.02, step, 2, 0.9); },
      .metrics = {metric_of(mean_absolute_error()), binary_accuracy().of_output(1)},
      .clip_global_norm = 0.5,
      .sample_weights = true};
  const auto [x, y] = points_of_a_line(examples);
  std::vector<float> weights(examples, 1.5F);
  weights[3] = 0.25F;
  const TrainingData data = Dataset::tensors({x, y, y, x, Tensor::of<float>({examples}, weights)});
  const Trained expected = train(architecture, compile, data, accumulated());
  for (int stages = 1; stages <= 4; ++stages) {
    const Trained ours = train(architecture, compile, data, by(in_stages(stages)));
    BOOST_TEST(same(ours.weights, expected.weights), stages << " stages");
    BOOST_TEST(ours.history.of("loss").back() == expected.history.of("loss").back(),
               boost::test_tools::tolerance(1e-6));
    BOOST_TEST(
        ours.history.of("binary_accuracy").back() == expected.history.of("binary_accuracy").back(),
        boost::test_tools::tolerance(1e-6));
  }
  CompileOptions whole = compile;
  expect_close(expected, train(architecture, whole, data, by(OneDevice{})), 1e-4F);
}

BOOST_AUTO_TEST_CASE(rows_of_an_embedding_stay_sparse_and_exact) {
  const Architecture words =
      chain({embedding(50, 3), flatten(), dense(4, tanh), dense(1)}, input({2}, DType::int64));
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 2 * examples; ++i) ids.push_back(i * 7 % 50);
  const Tensor x = Tensor::of<std::int64_t>({examples, 2}, ids);
  const Tensor y = points_of_a_line(examples).second;
  const Trained expected = train(words, plain(Adam{0.01}), {x, y}, accumulated());
  for (const int stages : {2, 3})
    BOOST_TEST(
        same(train(words, plain(Adam{0.01}), {x, y}, by(in_stages(stages))).weights, expected.weights));
  expect_close(expected, train(words, plain(Adam{0.01}), {x, y}, by(OneDevice{})), 1e-4F);
}

BOOST_AUTO_TEST_CASE(pipelines_may_have_replicas) {
  const auto [x, y] = points_of_a_line(examples);
  const Pipeline two{{.stages = 2, .micro_batches = 2, .replicas = 2}};
  const Trained ours = train(perceptron(), plain(), {x, y}, by(two));
  expect_close(ours, train(perceptron(), plain(), {x, y}, by(OneDevice{})), 1e-5F);
  BOOST_TEST(same(ours.weights, train(perceptron(), plain(), {x, y}, by(two)).weights));
  // Each replica's parts are those of two that divide a batch without stages.
  FitOptions mirrored = by(Mirrored{2});
  mirrored.gradient_accumulation_steps = 2;
  BOOST_TEST(same(ours.weights, train(perceptron(), plain(), {x, y}, mirrored).weights));
}

BOOST_AUTO_TEST_CASE(callbacks_and_checkpoints_see_the_trained_weights) {
  const Folder folder;
  const auto [x, y] = points_of_a_line(examples);
  Model model(perceptron());
  model.compile(plain());
  FitOptions options = by(in_stages(3));
  options.validation_data = TrainingData{x, y};
  options.callbacks = {model_checkpoint(folder.path())};
  const History history = model.fit({x, y}, options);
  BOOST_TEST(history.of("val_loss").back() == model.evaluate({x, y}).at("loss"),
             boost::test_tools::tolerance(1e-5));
  Model restored(perceptron());
  restored.compile(plain());
  restored.build({{DType::float32, {1}}});
  restored.load(folder.path());
  BOOST_TEST(same(restored.weights(), model.weights()));
}

BOOST_AUTO_TEST_CASE(accumulation_may_change_from_call_to_call) {
  const auto [x, y] = points_of_a_line(examples);
  Model model(perceptron());
  model.compile(plain());
  model.fit({x, y}, accumulated());
  FitOptions whole = by(OneDevice{});
  whole.initial_epoch = epochs;
  whole.epochs = 2 * epochs;
  model.fit({x, y}, whole);
  BOOST_TEST(model.step() == 2 * epochs * 3);
}

BOOST_AUTO_TEST_CASE(the_user_may_name_the_borders) {
  const auto [x, y] = points_of_a_line(examples);
  const auto cut_before = [](std::vector<std::string> names) {
    const int stages = static_cast<int>(names.size()) + 1;
    return Pipeline{{.stages = stages, .micro_batches = parts, .cut_before = std::move(names)}};
  };
  const Trained expected = train(perceptron(), plain(), {x, y}, accumulated());
  BOOST_TEST(same(train(perceptron(), plain(), {x, y}, by(cut_before({"dense_1", "dense_3"}))).weights,
                  expected.weights));
  const auto refused = [&, &x = x, &y = y](std::vector<std::string> names, const std::string& why) {
    BOOST_CHECK_EXCEPTION(train(perceptron(), plain(), {x, y}, by(cut_before(std::move(names)))), Error,
                          says(why));
  };
  refused({"dense_7"}, "no layer is named 'dense_7'; the model has dense, dense_1, dense_2, dense_3");
  refused({"dense"}, "a cut before 'dense' leaves a stage without layers");
  refused({"dense_3", "dense_1"}, "a cut before 'dense_1' leaves a stage without layers");
}

BOOST_AUTO_TEST_CASE(costs_that_the_user_gives_decide_the_cut_which_the_summary_prints) {
  const auto [x, y] = points_of_a_line(examples);
  const std::map<std::string, double> costs{
      {"dense", 1}, {"dense_1", 1}, {"dense_2", 1}, {"dense_3", 8}};
  for (const int replicas : {1, 2}) {
    Model model(perceptron());
    model.compile(plain());
    model.fit({x, y}, by(Pipeline{{.stages = 2,
                                   .micro_batches = parts / replicas,
                                   .layer_costs = costs,
                                   .replicas = replicas}}));
    BOOST_TEST(model.summary().ends_with("stages: dense, dense_1, dense_2 | dense_3\n"),
               model.summary());
  }
}

// Whichever cut that is: each replica has the same.
BOOST_AUTO_TEST_CASE(measured_costs_are_of_all_layers) {
  Architecture cnn = small_cnn();
  cnn.frozen = {"batch_norm_1"};
  std::mutex building;
  const LayerCosts costs = measure_layers(cnn, {images().first}, plain(), "",
                                          std::make_shared<ThreadedRuntime>(RuntimeOptions{}), building);
  std::vector<std::string> names;
  for (const NamedLayer& layer : named_layers(cnn)) names.push_back(layer.name);
  BOOST_TEST(costs.size() == names.size());
  double sum = 0;
  for (const std::string& name : names) {
    BOOST_TEST(costs.at(name) >= 0, name);
    sum += costs.at(name);
  }
  BOOST_TEST(sum > 0);
}

// Only there are the rows of its input known.
BOOST_AUTO_TEST_CASE(
    a_model_whose_layers_lack_memory_when_they_are_measured_is_cut_by_their_arithmetic) {
  bool was_measured = false;
  const Layer wide{"wide", [&](LayerScope&, Output x) {
                     if (x.shape()[0] == Shape::unknown) return x;
                     was_measured = true;
                     throw std::bad_alloc();
                   }};
  const Architecture layers = chain({dense(7, tanh), wide, dense(6, relu), dense(1)});
  const auto [x, y] = points_of_a_line(examples);
  BOOST_TEST(same(train(layers, plain(), {x, y}, by(in_stages(2))).weights,
                  train(layers, plain(), {x, y}, accumulated()).weights));
  BOOST_TEST(was_measured);
}

BOOST_AUTO_TEST_CASE(stages_may_have_devices) {
  const auto [x, y] = points_of_a_line(examples);
  const auto on = [](std::vector<std::string> devices) {
    return Pipeline{{.stages = 2, .micro_batches = parts, .devices = std::move(devices)}};
  };
  BOOST_TEST(same(train(perceptron(), plain(), {x, y}, by(on({"cpu:0", "cpu:0"}))).weights,
                  train(perceptron(), plain(), {x, y}, accumulated()).weights));
}

// Which are most of what this model computes.
BOOST_AUTO_TEST_CASE(a_balanced_cut_counts_the_products_of_attention) {
  std::vector<Layer> layers{attention(1, 4)};
  for (int i = 0; i < 20; ++i) layers.push_back(dense(4));
  const auto stages = cut(chain(layers), {{DType::float32, {128, 4}}}, {.stages = 2});
  BOOST_TEST(stages.front().results.size() == 1U);
}

BOOST_AUTO_TEST_CASE(an_op_of_the_programs_own_may_have_a_name_that_ends_as_one_of_ours) {
  static const OpDef own{
      .name = "FlatConv2D", .min_inputs = 2, .max_inputs = 2, .infer = [](InferContext& context) {
        context.add_output(context.input(0).dtype, context.input(0).shape);
      }};
  const Layer flat("flat", [](LayerScope& scope, Output x) { return scope.graph().add(own, {x, x}); });
  BOOST_TEST(cut(chain({flat, dense(1)}), {{DType::float32, {4}}}, {.stages = 2}).size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_cut_that_is_impossible_names_layers) {
  const auto [x, y] = points_of_a_line(examples);
  const TrainingData data{x, y};
  BOOST_CHECK_EXCEPTION(train(perceptron(), plain(), data, by(in_stages(5))), Error,
                        says("at most 4 parts, but 5 stages are wanted; its layers are dense, dense_1"));
  const Layer shared = dense(1, tanh).named("shared");
  const Architecture twice = chain({shared, dense(3), dense(1), shared});
  BOOST_CHECK_EXCEPTION(train(twice, plain(), data, by(in_stages(2))), Error, says("at most 1 parts"));
  Pipeline before{{.stages = 2, .micro_batches = parts, .cut_before = {"dense_1"}}};
  BOOST_CHECK_EXCEPTION(train(twice, plain(), data, by(before)), Error,
                        says("divides the layer 'shared'"));
}

BOOST_AUTO_TEST_CASE(numbers_that_do_not_fit_are_refused_with_both) {
  const auto [x, y] = points_of_a_line(examples);
  const auto refused = [&, &x = x, &y = y](const PipelineOptions& cut, const std::string& why) {
    BOOST_CHECK_EXCEPTION(train(perceptron(), plain(), {x, y}, by(Pipeline{cut})), Error, says(why));
  };
  refused({.micro_batches = 3}, "8 examples cannot be divided into 3 micro-batches");
  refused({.micro_batches = 16}, "8 examples cannot be divided into 16 micro-batches");
  refused({.micro_batches = 8, .replicas = 2}, "among 2 replicas, cannot be divided into 8");
  refused({.stages = 0}, "expected 1 or more stages");
  refused({.stages = 2, .devices = {"cpu:0"}}, "2 stages need a device each, but 1 are given");
  refused({.stages = 3, .cut_before = {"dense_1"}}, "3 stages have 2 borders, but 1 layers are named");
  FitOptions both = by(in_stages(2));
  both.gradient_accumulation_steps = 2;
  BOOST_CHECK_EXCEPTION(train(perceptron(), plain(), {x, y}, both), Error,
                        says("leave out gradient_accumulation_steps"));
  FitOptions none = by(OneDevice{});
  none.gradient_accumulation_steps = 0;
  BOOST_CHECK_EXCEPTION(train(perceptron(), plain(), {x, y}, none), Error,
                        says("1 or more gradient_accumulation_steps"));
  LocalCluster cluster({{"worker", 3}});
  BOOST_CHECK_EXCEPTION(
      train(perceptron(), plain(), {x, y}, by(Pipeline{cluster.server("worker", 0), {.stages = 2}})),
      Error, says("the 3 tasks that train cannot be divided into groups of 2"));
}

BOOST_AUTO_TEST_SUITE_END()
