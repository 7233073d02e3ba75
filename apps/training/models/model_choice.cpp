#include "apps/training/models/model_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "actors/models/images/fast_net.h"
#include "actors/models/images/recipe.h"
#include "actors/models/images/whitening.h"
#include "actors/models/text/character_lstm.h"
#include "actors/models/text/transformer.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// What a kind of models takes.
enum class Takes : std::uint8_t { numbers, images, text };

struct Kind {
  std::string name, what;
  Takes takes = Takes::images;
  ModelSettings defaults{};
  std::function<Architecture(const SettingsReader&, const LabelledTypes&, const Tensor& sample)> make;
  Recipe recipe{};
};

Recipe recipe_of_images(const ImageRecipe& from) {
  return {.learning_rate = from.learning_rate,
          .batch_size = from.batch_size,
          .epochs = from.epochs,
          .precision = from.precision,
          .augmentation = from.augmentation,
          .compile = [from](double rate, std::int64_t steps) {
            ImageRecipe own = from;
            own.learning_rate = rate;
            return compile_options(own, steps);
          }};
}

Recipe recipe_of_transformer() {
  const TransformerRecipe from;
  return {.learning_rate = from.learning_rate,
          .batch_size = from.batch_size,
          .steps = from.steps,
          .compile = [from](double rate, std::int64_t steps) {
            TransformerRecipe own = from;
            own.last_learning_rate *= rate / own.learning_rate;
            own.learning_rate = rate;
            own.steps = steps;
            own.warmup = std::min(own.warmup, steps / 2);
            return compile_options(own);
          }};
}

Recipe recipe_of_character_lstm() {
  const CharacterLstmRecipe from;
  return {.learning_rate = from.learning_rate,
          .batch_size = from.batch_size,
          .steps = from.steps,
          .compile = [from](double rate, std::int64_t steps) {
            CharacterLstmRecipe own = from;
            own.learning_rate = rate;
            own.steps = steps;
            return compile_options(own);
          }};
}

Architecture make_fast_net(const SettingsReader& settings, const LabelledTypes& data,
                           const Tensor& sample) {
  constexpr std::int64_t least = 16;  // three times halved
  const Shape& image = data.example.shape;
  if (image[0] < least || image[1] < least)
    throw invalid_argument(
        fmt::format("the model fast takes images of {0}x{0} pixels or more, not {1}x{2}", least,
                    image[0], image[1]));
  const Tensor whitening = sample.valid()
                               ? whitening_filters(sample)
                               : Tensor::zeros(DType::float32, {2, 2, image[2], 8 * image[2]});
  const auto channels = settings.numbers("channels");
  if (channels.size() != 3)
    throw invalid_argument(
        fmt::format("the model fast has three blocks: expected three numbers for "
                    "channels, such as 48,192,192; got {}",
                    channels.size()));
  return fast_net(whitening, {.image = image,
                              .classes = data.classes,
                              .channels = {channels[0], channels[1], channels[2]},
                              .weight_decay = fast_net_recipe().weight_decay});
}

TransformerOptions transformer_options(const SettingsReader& settings) {
  return {.context = settings.number("context"),
          .layers = settings.number("layers"),
          .heads = settings.number("heads"),
          .width = settings.number("width")};
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all{
      {.name = "mlp",
       .what = "a perceptron with hidden layers of these sizes",
       .takes = Takes::numbers,
       .defaults = {{"hidden", "256"}},
       .make = [](const SettingsReader& settings, const LabelledTypes& data,
                  const Tensor&) { return mlp(settings.numbers("hidden"), data.classes); }},
      {.name = "lenet",
       .what = "two convolutions, for images (LeCun et al. 1998)",
       .make = [](const SettingsReader&, const LabelledTypes& data,
                  const Tensor&) { return lenet(data.example.shape, data.classes); }},
      {.name = "resnet20",
       .what = "twenty layers with shortcuts, for images (He et al. 2016); its 64,000 steps take long",
       .make =
           [](const SettingsReader&, const LabelledTypes& data, const Tensor&) {
             return resnet20(data.example.shape, data.classes, l2(resnet20_recipe().weight_decay / 2));
           },
       .recipe = recipe_of_images(resnet20_recipe())},
      {.name = "fast",
       .what = "a small convolutional net that learns fast, for images (after Jordan 2024)",
       .defaults = {{"channels", "48,192,192"}},
       .make = make_fast_net,
       .recipe = recipe_of_images(fast_net_recipe())},
      {.name = "lstm",
       .what = "an LSTM that reads images row by row",
       .defaults = {{"units", "128"}},
       .make =
           [](const SettingsReader& settings, const LabelledTypes& data, const Tensor&) {
             return row_lstm(data.example.shape, data.classes, settings.number("units"));
           }},
      {.name = "transformer",
       .what = "foretells characters of a text (after nanoGPT)",
       .takes = Takes::text,
       .defaults = {{"context", "64"}, {"layers", "4"}, {"heads", "4"}, {"width", "128"}},
       .make =
           [](const SettingsReader& settings, const LabelledTypes& data, const Tensor&) {
             return character_transformer(data.classes, transformer_options(settings));
           },
       .recipe = recipe_of_transformer()},
      {.name = "char_lstm",
       .what = "foretells characters of a text, by LSTMs (after char-rnn)",
       .takes = Takes::text,
       .defaults = {{"context", "64"}, {"layers", "2"}, {"width", "128"}},
       .make =
           [](const SettingsReader& settings, const LabelledTypes& data, const Tensor&) {
             return character_lstm(data.classes, {.context = settings.number("context"),
                                                  .layers = settings.number("layers"),
                                                  .width = settings.number("width")});
           },
       .recipe = recipe_of_character_lstm()}};
  return all;
}

const Kind& kind_of(const ModelChoice& choice) {
  const auto found = std::ranges::find(kinds(), choice.name, &Kind::name);
  if (found == kinds().end())
    throw invalid_argument(fmt::format("there is no model '{}'; there are {}", choice.name,
                                       fmt::join(model_names(), ", ")));
  return *found;
}

bool suits(Takes takes, const LabelledTypes& data) {
  if (takes == Takes::text || !data.alphabet.empty())
    return takes == Takes::text && !data.alphabet.empty();
  if (data.example.dtype != DType::float32) return false;
  return takes == Takes::numbers || data.example.shape.rank() == 3;
}

void expect_data(const Kind& kind, const LabelledTypes& data) {
  if (suits(kind.takes, data)) return;
  std::vector<std::string> suitable;
  for (const Kind& other : kinds())
    if (suits(other.takes, data)) suitable.push_back(other.name);
  throw invalid_argument(
      fmt::format("the model {} does not take examples that are {}; models that do: {}", kind.name,
                  data.example.to_string(), fmt::join(suitable, ", ")));
}

}  // namespace

const std::vector<std::string>& model_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Kind& kind : kinds()) all.push_back(kind.name);
    return all;
  }();
  return names;
}

std::string describe_models() {
  std::string lines;
  for (const Kind& kind : kinds())
    lines += fmt::format("  {:<12} {}{}{}\n", kind.name, kind.what, kind.defaults.empty() ? "" : ": ",
                         to_string(kind.defaults));
  return lines;
}

Architecture architecture_of(const ModelChoice& choice, const LabelledTypes& data,
                             const Tensor& sample) {
  const Kind& kind = kind_of(choice);
  const SettingsReader settings(choice.name, choice.settings, kind.defaults);
  expect_data(kind, data);
  return kind.make(settings, data, sample);
}

std::int64_t block_of(const ModelChoice& choice) {
  const Kind& kind = kind_of(choice);
  const SettingsReader settings(choice.name, choice.settings, kind.defaults);
  return kind.takes == Takes::text ? settings.number("context") : TransformerOptions{}.context;
}

Recipe recipe_of(const ModelChoice& choice) { return kind_of(choice).recipe; }

ModelChoice completed(ModelChoice choice) {
  choice.settings.merge(ModelSettings(kind_of(choice).defaults));
  return choice;
}

std::string describe(const ModelChoice& choice) {
  const ModelSettings settings = completed(choice).settings;
  return settings.empty() ? choice.name : fmt::format("{} with {}", choice.name, to_string(settings));
}

}  // namespace actorflow
