#include "apps/training/reports/answers.h"

#include <fmt/format.h>

#include <utility>

#include "actors/input/rows.h"

namespace actorflow {
namespace {

constexpr std::size_t max_images = 40;

bool are_images(const LabelledTypes& types) {
  return types.example.dtype == DType::float32 && types.example.shape.rank() == 3;
}

std::string name_of(const LabelledData& data, std::int64_t label) {
  const auto place = static_cast<std::size_t>(label);
  return place < data.class_names.size() ? data.class_names[place] : std::to_string(label);
}

}  // namespace

void Answers::add(const LabelledData& data, const Tuple& batch, std::span<const std::int64_t> classes) {
  const auto actual = batch[1].values<std::int64_t>();
  labels.insert(labels.end(), actual.begin(), actual.end());
  predicted.insert(predicted.end(), classes.begin(), classes.end());
  if (!are_images(data.types)) return;
  for (std::size_t row = 0; row < actual.size() && wrong.size() < max_images; ++row)
    if (actual[row] != classes[row])
      wrong.push_back(
          {row_of(batch, static_cast<std::int64_t>(row))[0],
           fmt::format("{}, not {}", name_of(data, actual[row]), name_of(data, classes[row]))});
}

void save_answers(const std::string& folder, const LabelledData& data, const Answers& answers) {
  if (answers.labels.empty()) return;
  std::vector<std::string> names;
  for (std::int64_t label = 0; label < data.types.classes; ++label)
    names.push_back(name_of(data, label));
  save_plot(folder, "confusion",
            to_svg(confusion_matrix("Test examples by class, and what the model takes them for", names,
                                    answers.labels, answers.predicted)));
  if (!answers.wrong.empty())
    save_plot(
        folder, "mistakes",
        to_svg(ImageGrid{.title = "What the model takes for something else", .images = answers.wrong}));
}

}  // namespace actorflow
