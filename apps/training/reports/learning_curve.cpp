#include "apps/training/reports/learning_curve.h"

namespace actorflow {
namespace {

constexpr std::size_t max_points = 400;

}  // namespace

void LearningCurve::record(std::int64_t step, double loss, double accuracy) {
  sum_ = {step, sum_.loss + loss, sum_.accuracy + accuracy};
  if (++summed_ < steps_per_point_) return;
  const auto count = static_cast<double>(summed_);
  points_.push_back({step, sum_.loss / count, sum_.accuracy / count});
  sum_ = {};
  summed_ = 0;
  if (points_.size() == max_points) merge_neighbours();
}

void LearningCurve::merge_neighbours() {
  for (std::size_t i = 0; i < max_points / 2; ++i) {
    const Point &a = points_[2 * i], &b = points_[2 * i + 1];
    points_[i] = {b.step, (a.loss + b.loss) / 2, (a.accuracy + b.accuracy) / 2};
  }
  points_.resize(max_points / 2);
  steps_per_point_ *= 2;
}

}  // namespace actorflow
