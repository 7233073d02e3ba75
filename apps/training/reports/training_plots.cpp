#include "apps/training/reports/training_plots.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "apps/plots/charts.h"

namespace actorflow {
namespace {

void save_curve(const std::string& folder, const LearningCurve& curve, const std::string& what,
                double LearningCurve::Point::*value) {
  Series series{"training", {}};
  for (const auto& point : curve.points())
    series.points.push_back({static_cast<double>(point.step), point.*value});
  save_plot(folder, what,
            to_svg(LineChart{.title = "Training " + what + " of the chief's batches",
                             .x_label = "global step",
                             .y_label = what,
                             .series = {std::move(series)}}));
}

// The class with the highest score of each row of logits [..., classes].
std::vector<std::int64_t> likeliest(const Tensor& logits) {
  const auto scores = logits.values<float>();
  const auto classes = static_cast<std::size_t>(logits.shape()[logits.shape().rank() - 1]);
  std::vector<std::int64_t> best;
  for (std::size_t row = 0; row < scores.size(); row += classes) {
    const auto own = scores.subspan(row, classes);
    best.push_back(std::ranges::max_element(own) - own.begin());
  }
  return best;
}

}  // namespace

SeesLogits kept_in(Answers& answers, const LabelledData& data) {
  return [&answers, &data](const Tuple& batch, const Tensor& logits) {
    answers.add(data, batch, likeliest(logits));
  };
}

void save_training_plots(const std::string& folder, const LearningCurve& curve, const LabelledData& data,
                         const Answers& answers) {
  save_curve(folder, curve, "loss", &LearningCurve::Point::loss);
  save_curve(folder, curve, "accuracy", &LearningCurve::Point::accuracy);
  save_answers(folder, data, answers);
}

}  // namespace actorflow
