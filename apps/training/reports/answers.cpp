#include "apps/training/reports/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "actors/input/rows.h"

namespace actorflow {
namespace {

constexpr std::size_t most_mistakes = 40;
constexpr std::int64_t shown_characters = 60;

bool are_images(const LabelledTypes& types) {
  return types.example.dtype == DType::float32 && types.example.shape.rank() == 3;
}

std::string name_of(const LabelledData& data, std::int64_t label) {
  const auto place = static_cast<std::size_t>(label);
  return place < data.class_names.size() ? data.class_names[place] : std::to_string(label);
}

std::string caption_of(const LabelledData& data, std::int64_t label, std::int64_t predicted,
                       std::string_view separator = ", ") {
  return fmt::format("{}{}not {}", name_of(data, label), separator, name_of(data, predicted));
}

// The numbers of an example.
std::string numbers_of(const Tensor& example) {
  std::string text;
  for (const float value : example.values<float>())
    text += fmt::format("{}{:.4g}", text.empty() ? "" : ", ", value);
  return text;
}

// What stands in a block of a text up to this place.
std::string text_before(const LabelledData& data, std::span<const std::int64_t> block,
                        std::int64_t place) {
  std::string text;
  for (std::int64_t i = std::max<std::int64_t>(0, place + 1 - shown_characters); i <= place; ++i)
    text += name_of(data, block[static_cast<std::size_t>(i)]);
  return text;
}

using Classes = std::span<const std::int64_t>;

// Examples with one label each.
void add_examples(Answers& answers, const LabelledData& data, const Tuple& batch, Classes classes) {
  const auto labels = batch[1].values<std::int64_t>();
  for (std::size_t row = 0; row < labels.size(); ++row) {
    if (answers.wrong.size() + answers.wrong_texts.size() >= most_mistakes) return;
    if (labels[row] == classes[row]) continue;
    const Tensor example = row_of(batch, static_cast<std::int64_t>(row))[0];
    if (are_images(data.types))
      answers.wrong.push_back({example, caption_of(data, labels[row], classes[row], "\n")});
    else
      answers.wrong_texts.push_back({numbers_of(example), caption_of(data, labels[row], classes[row])});
  }
}

// Blocks of a text, with a label for each character. The last mistake of a block has the most before it.
void add_blocks(Answers& answers, const LabelledData& data, const Tuple& batch, Classes classes) {
  const auto text = batch[0].values<std::int64_t>(), labels = batch[1].values<std::int64_t>();
  const auto length = static_cast<std::size_t>(batch[1].shape()[1]);
  for (std::size_t begin = 0; begin < labels.size(); begin += length) {
    if (answers.wrong_texts.size() >= most_mistakes) return;
    std::size_t place = length;
    while (place > 0 && labels[begin + place - 1] == classes[begin + place - 1]) --place;
    if (place == 0) continue;
    const std::size_t at = begin + place - 1;
    answers.wrong_texts.push_back(
        {text_before(data, text.subspan(begin, length), static_cast<std::int64_t>(place) - 1),
         caption_of(data, labels[at], classes[at])});
  }
}

}  // namespace

void Answers::add(const LabelledData& data, const Tuple& batch, std::span<const std::int64_t> classes) {
  const auto actual = batch[1].values<std::int64_t>();
  labels.insert(labels.end(), actual.begin(), actual.end());
  predicted.insert(predicted.end(), classes.begin(), classes.end());
  const bool is_text = data.types.label.rank() > 0;
  (is_text ? add_blocks : add_examples)(*this, data, batch, classes);
}

void save_answers(const std::string& folder, const LabelledData& data, const Answers& answers) {
  if (answers.labels.empty()) return;
  std::vector<std::string> names;
  for (std::int64_t label = 0; label < data.types.classes; ++label)
    names.push_back(name_of(data, label));
  save_plot(folder, "confusion",
            to_svg(confusion_matrix("Test examples by class, and what the model takes them for", names,
                                    answers.labels, answers.predicted)));
  const std::string title = "What the model takes for something else";
  if (!answers.wrong.empty())
    save_plot(folder, "mistakes", to_svg(ImageGrid{.title = title, .images = answers.wrong}));
  if (!answers.wrong_texts.empty())
    save_plot(folder, "mistakes", to_svg(TextList{.title = title, .lines = answers.wrong_texts}));
}

}  // namespace actorflow
