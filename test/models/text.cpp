// Text: its characters and blocks, a transformer that learns it, and samples.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>

#include "actors/models/text/sample.h"
#include "actors/models/text/text_data.h"
#include "actors/models/text/transformer.h"
#include "test/models/support/toy_data.h"
#include "test/support/folder.h"
#include "test/support/says.h"

BOOST_AUTO_TEST_SUITE(text)

using namespace actorflow;
using namespace actorflow::test;

namespace {

using Numbers = std::vector<std::int64_t>;

Tensor counting(std::int64_t count) {
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i) numbers.push_back(i);
  return Tensor::of<std::int64_t>({count}, numbers);
}

Numbers numbers(const Tensor& tensor) {
  const auto values = tensor.values<std::int64_t>();
  return {values.begin(), values.end()};
}

// The first numbers of the next blocks.
Numbers beginnings(const Dataset& blocks, std::int64_t most) {
  const Tuple rows = read_all(blocks.take(most), {&posix_storage(), nullptr});
  Numbers result;
  const std::int64_t length = rows[0].shape()[1];
  for (std::int64_t i = 0; i < rows[0].shape()[0]; ++i)
    result.push_back(rows[0].values<std::int64_t>()[static_cast<std::size_t>(i * length)]);
  return result;
}

constexpr TransformerOptions tiny{.context = 8, .layers = 1, .heads = 2, .width = 16};

// "abcabc...": its characters are 0, 1 and 2.
Tensor abc(std::int64_t count) {
  Tensor text = counting(count);
  for (auto& number : text.mutable_values<std::int64_t>()) number %= 3;
  return text;
}

Model small_transformer(const TransformerRecipe& recipe, const TransformerOptions& options = tiny) {
  Model model(character_transformer(3, options));
  model.compile(compile_options(recipe));
  return model;
}

}  // namespace

BOOST_AUTO_TEST_CASE(characters_are_numbered_by_their_code_points) {
  const Vocabulary vocabulary = Vocabulary::of("b\nä€a𝄞b");
  BOOST_TEST(vocabulary.size() == 6);
  BOOST_TEST(vocabulary.encode("\nabä€𝄞") == (Numbers{0, 1, 2, 3, 4, 5}),
             boost::test_tools::per_element());
  BOOST_TEST(vocabulary.decode(Numbers{5, 0, 1, 3}) == "𝄞\naä");
}

BOOST_AUTO_TEST_CASE(characters_that_a_vocabulary_lacks_are_named) {
  const Vocabulary vocabulary = Vocabulary::of("ab");
  BOOST_CHECK_EXCEPTION(vocabulary.encode("ab€"), Error, says("'€' (number 3 of the text)"));
}

BOOST_AUTO_TEST_CASE(text_that_is_not_utf_8_is_refused_with_its_place) {
  for (const std::string bad : {"\x80", "\xC3", "\xE2\x82", "\xC3g", "\xFF", "\xC0\x80"})
    BOOST_CHECK_EXCEPTION(Vocabulary::of("ab" + bad), Error, says("at byte 2"));
}

BOOST_AUTO_TEST_CASE(a_saved_vocabulary_is_the_same) {
  const Folder folder;
  const Vocabulary vocabulary = Vocabulary::of("to be\nor nöt");
  vocabulary.save(posix_storage(), folder.path());
  BOOST_TEST((Vocabulary::load(posix_storage(), folder.path()) == vocabulary));
  for (const std::string damaged : {"", "ba", "aab"}) {
    write_file(folder.file("vocabulary.txt"), damaged);
    BOOST_CHECK_EXCEPTION(Vocabulary::load(posix_storage(), folder.path()), Error, says("each once"));
  }
}

BOOST_AUTO_TEST_CASE(the_end_of_a_text_is_for_validation) {
  const Folder folder;
  write_file(folder.file("a.txt"), "abcabcabca" + std::string("bbbbbbbbbb"));
  const TextData data = load_text(posix_storage(), folder.file("a.txt"), 0.25);
  BOOST_TEST(data.vocabulary.decode(numbers(data.train)) == "abcabcabcabbbbb");
  BOOST_TEST(data.vocabulary.decode(numbers(data.validation)) == "bbbbb");
  BOOST_CHECK_EXCEPTION(load_text(posix_storage(), folder.file("a.txt"), 1), Error, says("below 1"));
  write_file(folder.file("a.txt"), "\xFF");
  BOOST_CHECK_EXCEPTION(load_text(posix_storage(), folder.file("a.txt")), Error,
                        says("a.txt: the text is not UTF-8"));
}

BOOST_AUTO_TEST_CASE(consecutive_blocks_are_followed_by_a_character) {
  const Tuple rows = read_all(consecutive_blocks(counting(10), 3), {&posix_storage(), nullptr});
  BOOST_TEST(rows[0].describe() == "int64[3,3]");
  BOOST_TEST(numbers(rows[0]) == (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8}), boost::test_tools::per_element());
  BOOST_TEST(numbers(rows[1]) == (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9}), boost::test_tools::per_element());
  BOOST_TEST(beginnings(consecutive_blocks(counting(9), 3), 10).size() == 2U);
}

BOOST_AUTO_TEST_CASE(random_blocks_begin_everywhere_and_depend_on_their_number_alone) {
  const Dataset blocks = random_blocks(counting(10), 3, 7);
  const Numbers first = beginnings(blocks, 200);
  BOOST_TEST(std::set(first.begin(), first.end()).size() == 7U);  // 0 to 6
  const Numbers later = beginnings(blocks.skip(50), 150);
  BOOST_TEST(Numbers(first.begin() + 50, first.end()) == later, boost::test_tools::per_element());
  BOOST_TEST(beginnings(random_blocks(counting(10), 3, 8), 200) != first);
}

BOOST_AUTO_TEST_CASE(a_text_without_a_block_is_refused) {
  BOOST_CHECK_EXCEPTION(random_blocks(counting(3), 3), Error, says("3 characters has no block of 3"));
  BOOST_CHECK_EXCEPTION(consecutive_blocks(counting(3), 0), Error, says("no block of 0"));
}

BOOST_AUTO_TEST_CASE(no_position_sees_later_characters) {
  Model model(character_transformer(3, tiny));
  const Tensor a = Tensor::of<std::int64_t>({1, 8}, {0, 1, 2, 0, 1, 2, 0, 1});
  const Tensor b = Tensor::of<std::int64_t>({1, 8}, {0, 1, 2, 0, 2, 1, 2, 0});
  const Tensor of_a = model.predict(a), of_b = model.predict(b);
  BOOST_TEST(std::ranges::equal(of_a.values<float>().first(12), of_b.values<float>().first(12)));
  BOOST_TEST(
      !std::ranges::equal(of_a.values<float>().subspan(12, 3), of_b.values<float>().subspan(12, 3)));
}

BOOST_AUTO_TEST_CASE(a_tied_table_is_counted_once) {
  Model tied(character_transformer(65));
  Model untied(character_transformer(65, {.tied = false}));
  // Per block 12 width^2 and two layer_norms; then one of these, and positions.
  const std::int64_t rest = 4 * (12 * 128 * 128 + 4 * 128) + 2 * 128 + 64 * 128;
  BOOST_TEST(tied.count_parameters() == rest + 65 * 128);
  BOOST_TEST(untied.count_parameters() == rest + 2 * 65 * 128);
  BOOST_CHECK_EXCEPTION(character_transformer(65, {.heads = 3}), Error, says("divide the width 128"));
}

BOOST_AUTO_TEST_CASE(the_rate_rises_and_falls_as_a_cosine) {
  const CompileOptions options = compile_options(TransformerRecipe{});
  Graph graph;
  const Output step = graph.placeholder(DType::int64, {}, "step");
  const Output rate = options.learning_rate(step);
  Session session(graph);
  for (const auto& [number, expected] : std::map<std::int64_t, double>{
           {0, 2e-3 / 101}, {49, 100e-3 / 101}, {100, 2e-3}, {1050, 1.1e-3}, {2000, 2e-4}, {3000, 2e-4}})
    BOOST_TEST(session.run(rate, {{step, Tensor::scalar(number)}}).scalar<double>() == expected,
               boost::test_tools::tolerance(1e-9));
  BOOST_CHECK_EXCEPTION(compile_options(TransformerRecipe{.steps = 100}), Error, says("shorter"));
}

BOOST_AUTO_TEST_CASE(weights_decay_and_scales_do_not) {
  Graph graph;
  const OptimizerChoice choice = compile_options(TransformerRecipe{}).optimizer;
  const auto decay = [&](const Shape& shape) {
    return choice
        .of(graph.variable(shape.rank() == 2 ? "weights" : "biases",
                           graph.constant(Tensor::zeros(DType::float32, shape))))
        .hyperparameters()
        .back();
  };
  BOOST_TEST(decay({3, 4}) == 0.1);
  BOOST_TEST(decay({3}) == 0);
}

BOOST_AUTO_TEST_CASE(what_repeats_is_learned_and_goes_on_in_samples) {
  const TransformerRecipe recipe{.steps = 120, .warmup = 10, .learning_rate = 1e-2};
  Model model = small_transformer(recipe);
  model.fit(random_blocks(abc(100), 8), quiet({.epochs = 1, .batch_size = 8, .steps_per_epoch = 120}));
  BOOST_TEST(model.evaluate(consecutive_blocks(abc(100), 8)).at("loss") < 0.2);
  const Vocabulary vocabulary = Vocabulary::of("abc");
  std::string streamed;
  const SampleOptions options{
      .length = 12, .temperature = 0, .context = 8, .on_character = [&](auto c) { streamed += c; }};
  BOOST_TEST(sample(model, vocabulary, "abcab", options) == "cabcabcabcab");  // beyond the context
  BOOST_TEST(streamed == "cabcabcabcab");
}

BOOST_AUTO_TEST_CASE(training_goes_on_from_any_epoch) {
  const Dataset blocks = random_blocks(abc(50), 8);
  const TransformerRecipe recipe{.steps = 20, .warmup = 5};
  Model whole = small_transformer(recipe);
  whole.fit(blocks, quiet({.epochs = 4, .batch_size = 4, .steps_per_epoch = 5}));
  const Folder folder;
  Model first = small_transformer(recipe);
  first.fit(blocks, quiet({.epochs = 2, .batch_size = 4, .steps_per_epoch = 5}));
  first.save(folder.path());
  Vocabulary::of("abc").save(posix_storage(), folder.path());  // is no checkpoint
  Model second = small_transformer(recipe);
  second.load(folder.path());
  second.fit(blocks, quiet({.epochs = 4, .batch_size = 4, .initial_epoch = 2, .steps_per_epoch = 5}));
  BOOST_TEST(same(whole.weights(), second.weights()));
}

BOOST_AUTO_TEST_CASE(replicas_learn_the_blocks_of_one_device) {
  const auto losses = [](const Distribution& strategy) {
    Model model = small_transformer({.steps = 15, .warmup = 5, .clip_global_norm = 0});
    FitOptions options{.epochs = 3, .batch_size = 4, .steps_per_epoch = 5, .strategy = strategy};
    return model.fit(random_blocks(abc(50), 8), quiet(options)).of("loss");
  };
  const auto alone = losses(OneDevice{}), together = losses(Mirrored{2});
  for (std::size_t epoch = 0; epoch < 3; ++epoch)
    BOOST_TEST(together.at(epoch) == alone.at(epoch), boost::test_tools::tolerance(1e-4));
}

BOOST_AUTO_TEST_CASE(samples_follow_their_seed) {
  Model model(character_transformer(3, tiny));  // untrained: all characters are about as likely
  const Vocabulary vocabulary = Vocabulary::of("abc");
  const auto drawn = [&](SampleOptions options) {
    options.length = 60;
    options.context = 8;
    return sample(model, vocabulary, "a", options);
  };
  BOOST_TEST(drawn({.seed = 1}) == drawn({.seed = 1}));
  BOOST_TEST(drawn({.seed = 1}) != drawn({.seed = 2}));
  BOOST_TEST(drawn({.top_k = 1}) == drawn({.temperature = 0}));
  const std::string all = drawn({});
  BOOST_TEST((std::set(all.begin(), all.end()).size()) == 3U);
}

BOOST_AUTO_TEST_CASE(samples_that_make_no_sense_are_refused) {
  Model model(character_transformer(3, tiny));
  const Vocabulary vocabulary = Vocabulary::of("abc");
  const auto refused = [&](std::string_view prompt, const SampleOptions& options, const char* text) {
    BOOST_CHECK_EXCEPTION(sample(model, vocabulary, prompt, options), Error, says(text));
  };
  refused("", {.context = 8}, "a prompt of one character");
  refused("x", {.context = 8}, "'x'");
  refused("a", {.length = -1, .context = 8}, "got -1");
  refused("a", {.temperature = -1, .context = 8}, "temperature of 0 or more");
  refused("a", {.temperature = std::nan(""), .context = 8}, "temperature of 0 or more");
  refused("a", {.context = 9}, "9");
  BOOST_CHECK_EXCEPTION(sample(model, Vocabulary::of("ab"), "a", {.context = 8}), Error,
                        says("a vocabulary of 2 characters needs float32[1,8,2]"));
}

BOOST_AUTO_TEST_CASE(a_model_that_diverged_gives_no_samples) {
  Model model(character_transformer(3, tiny));
  auto weights = model.weights();
  for (auto& [name, value] : weights)
    weights.at(name) = Tensor::of<float>(
        value.shape(), std::vector<float>(static_cast<std::size_t>(value.elements()), std::nanf("")));
  model.set_weights(weights);
  BOOST_CHECK_EXCEPTION(sample(model, Vocabulary::of("abc"), "a", {.context = 8}), Error,
                        says("not finite"));
}

BOOST_AUTO_TEST_SUITE_END()
