#include "apps/training/reports/training_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actors/input/rows.h"
#include "actors/runtime/storage.h"
#include "kernels/ops.h"

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

void keep_wrong(const LabelledData& data, const Tuple& batch, std::int64_t row, std::int64_t predicted,
                Answers& answers) {
  if (answers.wrong.size() == max_images || !are_images(data.types)) return;
  Tuple example = row_of(batch, row);
  answers.wrong.push_back(
      {std::move(example[0]),
       fmt::format("{}, not {}", name_of(data, answers.labels.back()), name_of(data, predicted))});
}

void save_curve(const std::string& folder, const LearningCurve& curve, const std::string& what,
                double LearningCurve::Point::*value) {
  Series series{"training", {}};
  for (const auto& point : curve.points())
    series.points.push_back({static_cast<double>(point.step), point.*value});
  save_plot(folder, what,
            to_svg(LineChart{.title = what + " of the chief's batches",
                             .x_label = "global step",
                             .y_label = what,
                             .series = {std::move(series)}}));
}

}  // namespace

Answers answers_on(Session& session, const Classifier& model, const LabelledData& data) {
  Answers answers;
  if (data.types.label.rank() != 0) return answers;
  const StageRef stage = data.test_batches().open({&posix_storage(), nullptr});
  stage->restart(0);
  for (Tuple batch; stage->next(batch);) {
    const Tensor logits = session.run(model.test.logits, {{model.x, batch[0]}});
    const auto scores = logits.values<float>();
    const auto classes = static_cast<std::size_t>(logits.shape()[1]);
    for (std::int64_t row = 0; row < logits.shape()[0]; ++row) {
      const auto own = scores.subspan(static_cast<std::size_t>(row) * classes, classes);
      const std::int64_t predicted = std::ranges::max_element(own) - own.begin();
      answers.labels.push_back(batch[1].values<std::int64_t>()[static_cast<std::size_t>(row)]);
      answers.predicted.push_back(predicted);
      if (predicted != answers.labels.back()) keep_wrong(data, batch, row, predicted, answers);
    }
  }
  return answers;
}

void save_training_plots(const std::string& folder, const LearningCurve& curve, const LabelledData& data,
                         const Answers& answers) {
  save_curve(folder, curve, "loss", &LearningCurve::Point::loss);
  save_curve(folder, curve, "accuracy", &LearningCurve::Point::accuracy);
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
