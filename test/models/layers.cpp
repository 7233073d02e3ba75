// Layers: shapes, names, sharing, and numbers that a person can compute.
#include "actors/layers/layers.h"

#include <boost/test/unit_test.hpp>
#include <numeric>
#include <stdexcept>

#include "actors/models/model.h"
#include "test/models/support/toy_data.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(layers)

using namespace actorflow;
using namespace actorflow::test;

namespace {

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), 1.F);
  return Tensor::of<float>(shape, values);
}

std::vector<float> numbers(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

std::vector<std::string> names_of(Model& model) {
  std::vector<std::string> names;
  for (const auto& [name, value] : model.weights()) names.push_back(name + " " + value.describe());
  return names;
}

std::string with_single_spaces(const std::string& text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' || !result.ends_with(' ')) result += c;
  return result;
}

using Strings = std::vector<std::string>;
using Floats = std::vector<float>;

}  // namespace

BOOST_AUTO_TEST_CASE(variables_are_named_after_their_layers) {
  Model model =
      sequential(input({4}), {dense(3), dense(2).named("logits"), dense(1, {}, {.bias = false})});
  BOOST_TEST(names_of(model) == (Strings{"dense/biases float32[3]", "dense/weights float32[4,3]",
                                         "dense_1/weights float32[2,1]", "logits/biases float32[2]",
                                         "logits/weights float32[3,2]"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_layer_that_is_used_twice_shares_its_variables) {
  const Layer shared = dense(2);
  const SymbolicTensor a = input({3}), b = input({3});
  Model model({a, b}, {add()({shared(a), shared(b)})});
  BOOST_TEST(names_of(model).size() == 2U);
  const Tensor x = counting({1, 3}), zero = Tensor::zeros(DType::float32, {1, 3});
  BOOST_TEST(numbers(model.predict({x, zero})[0]) == numbers(model.predict({zero, x})[0]));
}

BOOST_AUTO_TEST_CASE(a_tied_embedding_gives_vectors_of_ids_and_logits_of_vectors) {
  const Layer table = tied_embedding(3, 2);
  const SymbolicTensor ids = input({4}, DType::int64);
  Model model({ids}, {table(ids), table(table(ids))});
  BOOST_TEST(names_of(model) == Strings{"tied_embedding/table float32[3,2]"},
             boost::test_tools::per_element());
  model.set_weights({{"tied_embedding/table", Tensor::of<float>({3, 2}, {1, 0, 0, 2, 1, 1})}});
  const auto results =
      model.predict(std::vector<Tensor>{Tensor::of<std::int64_t>({1, 4}, {0, 1, 2, 0})});
  BOOST_TEST(numbers(results[0]) == (Floats{1, 0, 0, 2, 1, 1, 1, 0}), boost::test_tools::per_element());
  BOOST_TEST(numbers(results[1]) == (Floats{1, 0, 1, 0, 4, 2, 1, 2, 2, 1, 0, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_last_product_of_attention_may_begin_with_other_weights) {
  Model model = sequential(input({3, 4}), {attention(2, 2, {.output_weights = zeros()})});
  BOOST_TEST(numbers(model.predict(counting({1, 3, 4}))) == Floats(12, 0.F),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_layer_of_layers_names_them_after_itself) {
  const Layer block("block", [](LayerScope& scope, Output x) {
    return x + scope.apply(dense(4), relu(scope.apply(dense(8), x)));
  });
  Model model = sequential(input({4}), {block, block.named("second")});
  BOOST_TEST(model.count_parameters() == 2 * (4 * 8 + 8 + 8 * 4 + 4));
  BOOST_TEST(model.weights().contains("block/dense_1/weights"));
  BOOST_TEST(model.weights().contains("second/dense/biases"));
}

BOOST_AUTO_TEST_CASE(weights_depend_on_the_seed_and_their_name_alone) {
  const auto logits = [](std::uint64_t seed, const std::vector<Layer>& before) {
    std::vector<Layer> layers = before;
    layers.push_back(dense(2).named("logits"));
    Model model = sequential(input({4}), layers);
    model.compile({.loss = mean_squared_error(), .seed = seed});
    return numbers(model.weights().at("logits/weights"));
  };
  BOOST_TEST((logits(1, {}) == logits(1, {dense(4)})));
  BOOST_TEST((logits(1, {}) != logits(2, {})));
}

BOOST_AUTO_TEST_CASE(shapes_follow_from_the_input) {
  Model model = sequential(input({28, 28, 1}),
                           {conv2d(6, 5, relu, {.padding = Padding::same}), max_pool(),
                            conv2d(16, 5, relu), avg_pool(), flatten(), dense(120), reshape({3, -1}),
                            layer_norm(), flatten(), dropout(0.5), batch_norm(), dense(10)});
  const std::string table = with_single_spaces(model.summary());
  for (const char* line :
       {"conv2d float32[?,28,28,6] 156", "flatten float32[?,400] 0", "reshape float32[?,3,40] 0",
        "batch_norm float32[?,120] 480", "52462 parameters, of which 52222 are trained"})
    BOOST_TEST(table.find(line) != std::string::npos, table);
}

BOOST_AUTO_TEST_CASE(simple_layers_compute_what_they_say) {
  const auto apply = [](const Layer& layer, const Tensor& x) {
    return numbers(sequential({layer}).predict(x));
  };
  BOOST_TEST(apply(rescaling(0.5, 1), counting({1, 2})) == (Floats{1.5, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(apply(max_pool(), counting({1, 2, 2, 1})) == (Floats{4}), boost::test_tools::per_element());
  BOOST_TEST(apply(global_avg_pool(), counting({1, 2, 2, 1})) == (Floats{2.5}),
             boost::test_tools::per_element());
  BOOST_TEST(apply(global_max_pool(), counting({1, 2, 2, 1})) == (Floats{4}),
             boost::test_tools::per_element());
  BOOST_TEST(apply(global_avg_pool(), counting({1, 3, 2})) == (Floats{3, 4}),
             boost::test_tools::per_element());
  BOOST_TEST(apply(global_max_pool(), counting({1, 3, 2})) == (Floats{5, 6}),
             boost::test_tools::per_element());
  BOOST_TEST(apply(dropout(0.9), counting({1, 3})) == (Floats{1, 2, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(apply(activation(gelu), Tensor::zeros(DType::float32, {1, 1})) == (Floats{0}),
             boost::test_tools::per_element());
  BOOST_TEST(apply(dense(2, relu, {.weights = ones()}), counting({1, 2, 2})) == (Floats{3, 3, 7, 7}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_activation_may_be_a_function_of_the_program) {
  const double slope = 3;
  Model model = sequential(input({1}), {dense(1, [](Output x) { return x * 2; }, {.weights = ones()}),
                                        activation([slope](Output x) { return x * slope; })});
  const Tensor y = model.predict(Tensor::of<float>({2, 1}, {1, -1}));
  BOOST_TEST(y.values<float>()[0] == 6.F);
  BOOST_TEST(y.values<float>()[1] == -6.F);
}

BOOST_AUTO_TEST_CASE(merging_layers_take_several_inputs) {
  const SymbolicTensor a = input({2}), b = input({2});
  Model model({a, b}, {add()({a, b}), multiply()({a, b}), average()({a, b}), concatenate()({a, b})});
  const auto results = model.predict({counting({1, 2}), Tensor::of<float>({1, 2}, {5, 7})});
  BOOST_TEST(numbers(results[0]) == (Floats{6, 9}), boost::test_tools::per_element());
  BOOST_TEST(numbers(results[1]) == (Floats{5, 14}), boost::test_tools::per_element());
  BOOST_TEST(numbers(results[2]) == (Floats{3, 4.5}), boost::test_tools::per_element());
  BOOST_TEST(numbers(results[3]) == (Floats{1, 2, 5, 7}), boost::test_tools::per_element());
}

// Wide heads, and dropout while training, take a way of their own (layers/attention.cpp).
BOOST_AUTO_TEST_CASE(attention_of_any_width_is_the_weighted_mean_of_the_values) {
  for (const std::int64_t width : {128, 129}) {
    Model model = sequential({attention(1, width, {.causal = true})});
    model.build({{DType::float32, {3, 4}}});
    auto weights = model.weights();
    // All keys are alike, so each position gets the mean of the values so far.
    weights.at("attention/key/weights") = Tensor::zeros(DType::float32, {4, width});
    model.set_weights(weights);
    Model alone = sequential({attention(1, width)});
    alone.build({{DType::float32, {1, 4}}});
    alone.set_weights(weights);
    const auto all = numbers(model.predict(counting({1, 3, 4})));
    const auto middle = numbers(alone.predict(Tensor::of<float>({1, 1, 4}, {5, 6, 7, 8})));
    for (std::size_t i = 0; i < 4; ++i)
      BOOST_TEST(all[8 + i] == middle[i], boost::test_tools::tolerance(1e-4F));
  }
}

// A position's result must not change when a later one does.
BOOST_AUTO_TEST_CASE(causal_attention_sees_nothing_later) {
  Model model = sequential({attention(2, 4, {.causal = true})});
  Tensor x = counting({1, 3, 4});
  const auto before = numbers(model.predict(x));
  Tensor changed = x.clone();
  changed.mutable_values<float>()[11] = -5;
  const auto after = numbers(model.predict(changed));
  for (std::size_t i = 0; i < 8; ++i) BOOST_TEST(before[i] == after[i]);
  BOOST_TEST(before[8] != after[8]);
}

BOOST_AUTO_TEST_CASE(dropout_differs_between_steps_and_keeps_the_mean) {
  Model model = sequential({constant_layer(0), dropout(0.5)});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}});
  const Tensor x = Tensor::of<float>({1, 1000}, Floats(1000, 1.F)),
               y = Tensor::zeros(DType::float32, {1, 1000});
  // The mean of squares is 4 * the share that stays.
  const auto losses = model.fit({x, y}, quiet({.epochs = 2, .batch_size = 1})).of("loss");
  BOOST_TEST(losses[0] != losses[1]);
  BOOST_TEST(losses[0] == 2, boost::test_tools::tolerance(0.2));
}

BOOST_AUTO_TEST_CASE(batch_norm_keeps_averages_for_testing) {
  Model model = sequential({batch_norm({.kept = 0})});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0}});
  const Tensor x = Tensor::of<float>({2, 1}, {1, 3}), y = Tensor::zeros(DType::float32, {2, 1});
  model.fit({x, y}, quiet({.batch_size = 2}));
  BOOST_TEST(model.weights().at("batch_norm/moving_mean").values<float>()[0] == 2.F);
}

BOOST_AUTO_TEST_CASE(embeddings_learn_the_rows_that_are_used) {
  Model model = sequential({embedding(4, 2, ones()), flatten(), dense(1, {}, {.weights = ones()})});
  model.compile({.loss = mean_squared_error(), .optimizer = Sgd{0.1}});
  const Tensor ids = Tensor::of<std::int64_t>({1, 1}, {2}), y = Tensor::zeros(DType::float32, {1, 1});
  model.fit({ids, y}, quiet({.batch_size = 1}));
  const auto table = numbers(model.weights().at("embedding/table"));
  BOOST_TEST(table[0] == 1.F);
  BOOST_TEST(table[4] != 1.F);
}

BOOST_AUTO_TEST_CASE(mistakes_name_the_layer_and_what_came) {
  const auto refuses = [](const auto& make, const char* text) {
    BOOST_CHECK_EXCEPTION(make(), Error, says(text));
  };
  refuses(
      [] {
        sequential(input({4}), {dense(2).named("a"), dense(2).named("a")}).build();
      },
      "two layers are named 'a'");
  refuses([] { sequential(input({4}), {conv2d(3, 3)}).build(); },
          "layer 'conv2d': expected images [batch, height, width, channels], got float32[?,4]");
  refuses([] { sequential(input({4}, DType::int64), {dense(3)}).build(); },
          "layer 'dense': expected float32");
  refuses(
      [] {
        const auto fails = [](LayerScope&, Output) -> Output {
          throw std::runtime_error("no such file");
        };
        sequential(input({4}), {Layer("own", fails)}).build();
      },
      "layer 'own': no such file");
  refuses(
      [] {
        const auto nothing = [](LayerScope&, Output) { return Output(); };
        sequential(input({4}), {Layer("own", nothing), dense(3)}).build();
      },
      "layer 'own': its function has returned an empty Output");
  for (const char* way : {"input()", "fit it", "build({{DType::float32, {3}}})"}) {
    refuses([] { sequential({dense(2)}).load("a_folder"); }, way);
    refuses([] { sequential({dense(2)}).summary(); }, way);
  }
  const auto reshaping = [](const Shape& from, const Shape& to) {
    return [=] { sequential(input(from), {reshape(to)}).build(); };
  };
  refuses(reshaping({10}, {-1, 3}),
          "layer 'reshape': the 10 elements of an example of float32[?,10] do not make one of [?,3]");
  refuses(reshaping({10}, {5}), "do not make one of [5]");
  refuses(reshaping({10}, {0, -1}), "do not make one of [0,?]");
  refuses(reshaping({10}, {-1, -1}), "at most one dimension of -1");
  refuses([] { sequential(input({0, 3}), {flatten()}).build(); }, "expected examples with elements");
  refuses([] { conv2d(3, {3, 0}); }, "conv2d: expected a window of 1 or more, got 0");
  refuses([] { dense(0); }, "dense: expected units of 1 or more, got 0");
  refuses([] { dropout(1); }, "expected a rate from 0 on and below 1");
  refuses(
      [] {
        const Layer shared = dense(2);
        const SymbolicTensor a = input({3}), b = input({4});
        Model({a, b}, {add()({shared(a), shared(b)})}).build();
      },
      "has the shape [3,2], but these inputs need [4,2]");
  refuses([] { Model({input({3})}, {input({3})}).build(); }, "an input that is not among its inputs");
  refuses([] { sequential(input({4}), {add()}).build(); },
          "layer 'add': expected two inputs or more, got 1");
}

BOOST_AUTO_TEST_SUITE_END()
