#include "actors/accumulator.h"

#include <algorithm>
#include <tuple>

#include "actors/planted_bug.h"
#include "actors/point.h"
#include "dataflow/check.h"

namespace actorflow {
namespace {

Point stale_gradient("a stale gradient dropped");
Point repeated_gradient("a gradient handed in again");

}  // namespace

bool Accumulator::add(int replica, const Contribution& contribution, std::optional<Gradient> gradient,
                      Tensor learning_rate) {
  auto& [counts, last] = this->replica(replica);
  if (contribution <= last && !planted(PlantedBug::double_apply)) {
    ++counts.repeated;
    repeated_gradient.hit();
    return true;
  }
  if (contribution.step < global_step_) {
    ++counts.stale;
    stale_gradient.hit();
    return false;
  }
  ++counts.counted;
  counts.not_finite += !gradient;
  last = contribution;
  gradients_.push_back({replica, contribution, std::move(gradient), std::move(learning_rate)});
  return true;
}

bool Accumulator::has(int replica) const {
  return std::ranges::any_of(gradients_,
                             [replica](const Entry& entry) { return entry.replica == replica; });
}

bool Accumulator::has_counted(int replica, std::int64_t step) const {
  const auto place = static_cast<std::size_t>(replica);
  return place < replicas_.size() && replicas_[place].last.step >= step;
}

Accumulator::Taken Accumulator::take() {
  ACTORFLOW_CHECK(!gradients_.empty(), "no gradient at step", global_step_);
  if (!planted(PlantedBug::summed_as_they_came))
    std::ranges::sort(gradients_, {},
                      [](const Entry& entry) { return std::tuple(entry.replica, entry.contribution); });
  Taken taken{.gradients = {}, .learning_rate = gradients_.front().learning_rate};
  for (auto& entry : gradients_) {
    global_step_ = std::max(global_step_, entry.contribution.step);
    if (entry.gradient) taken.gradients.push_back(std::move(*entry.gradient));
  }
  gradients_.clear();
  ++global_step_;
  return taken;
}

Accumulator::Replica& Accumulator::replica(int index) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= replicas_.size()) replicas_.resize(place + 1);
  return replicas_[place];
}

}  // namespace actorflow
