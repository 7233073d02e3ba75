#include "apps/training/reports/meter.h"

#include <algorithm>
#include <chrono>

namespace actorflow {

void Meter::record(std::int64_t step, double loss, double accuracy) {
  constexpr std::size_t window = 100;
  step_ = step;
  last_ = clock_.now();
  curve_.record(step, loss, accuracy);
  recent_.push_back({loss, accuracy});
  if (recent_.size() > window) recent_.pop_front();
}

double Meter::loss() const { return mean(&Sample::loss); }
double Meter::accuracy() const { return mean(&Sample::accuracy); }

double Meter::seconds() const { return std::chrono::duration<double>(last_ - began_).count(); }

double Meter::examples_per_second() const {
  if (seconds() <= 0) return 0;
  return static_cast<double>((step_ - start_) * examples_per_step_) / seconds();
}

double Meter::seconds_left() const {
  if (step_ <= start_) return 0;
  const auto left = static_cast<double>(std::max<std::int64_t>(end_ - step_, 0));
  return seconds() * left / static_cast<double>(step_ - start_);
}

double Meter::mean(double Sample::*value) const {
  if (recent_.empty()) return 0;
  double sum = 0;
  for (const auto& sample : recent_) sum += sample.*value;
  return sum / static_cast<double>(recent_.size());
}

}  // namespace actorflow
