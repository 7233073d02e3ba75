#include "actors/training/accumulator.h"

#include <algorithm>
#include <tuple>

#include "actors/probes/point.h"
#include "dataflow/values/check.h"

namespace actorflow {
namespace {

Point stale_gradient("a stale gradient dropped");
Point repeated_gradient("a gradient handed in again");

}  // namespace

bool Accumulator::add(int replica, const Contribution& contribution, std::optional<Gradient> gradient,
                      Tensor learning_rate) {
  auto& [counts, last] = this->replica(replica);
  if (contribution <= last) {
    ++counts.repeated;
    repeated_gradient.hit();
    return true;
  }
  if (contribution.step < global_step_) {
    ++counts.stale;
    stale_gradient.hit();
    return false;
  }
  gradients_.push_back({replica, contribution, std::move(gradient), std::move(learning_rate)});
  ++counts.counted;
  counts.not_finite += !gradients_.back().gradient;
  last = contribution;
  return true;
}

void Accumulator::withdraw(const Contribution& before) noexcept {
  const Entry& newest = gradients_.back();
  auto& [counts, last] = replicas_[static_cast<std::size_t>(newest.replica)];
  --counts.counted;
  counts.not_finite -= !newest.gradient;
  last = before;
  gradients_.pop_back();
}

bool Accumulator::has(int replica) const {
  return std::ranges::any_of(gradients_,
                             [replica](const Entry& entry) { return entry.replica == replica; });
}

bool Accumulator::has_counted(int replica, std::int64_t step) const {
  const auto place = static_cast<std::size_t>(replica);
  return place < replicas_.size() && replicas_[place].last.step >= step;
}

Accumulator::Gathered Accumulator::gathered() const {
  ACTORFLOW_CHECK(!gradients_.empty(), "no gradient at step", global_step_);
  std::vector<const Entry*> entries;
  for (const auto& entry : gradients_) entries.push_back(&entry);
  std::ranges::sort(entries, {},
                    [](const Entry* entry) { return std::tuple(entry->replica, entry->contribution); });
  Gathered all{.gradients = {}, .learning_rate = entries.front()->learning_rate};
  for (const Entry* entry : entries)
    if (entry->gradient) all.gradients.push_back(*entry->gradient);
  return all;
}

void Accumulator::advance() noexcept {
  for (const auto& entry : gradients_) global_step_ = std::max(global_step_, entry.contribution.step);
  gradients_.clear();
  ++global_step_;
}

Accumulator::Replica& Accumulator::replica(int index) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= replicas_.size()) replicas_.resize(place + 1);
  return replicas_[place];
}

}  // namespace actorflow
