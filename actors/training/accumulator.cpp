#include "actors/training/accumulator.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "actors/probes/point.h"
#include "dataflow/values/check.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

Point stale_gradient("a stale gradient dropped");
Point repeated_gradient("a gradient handed in again");

}  // namespace

bool Accumulator::add(int replica, const Contribution& contribution, std::optional<Gradient> gradient,
                      Tensor learning_rate) {
  auto& [counts, last, gradients] = this->replica(replica);
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
  const bool is_finite = gradient.has_value();
  gradients_.push_back(
      {replica, contribution, std::move(gradient), std::move(learning_rate), is_finite});
  ++counts.counted;
  counts.not_finite += !is_finite;
  last = contribution;
  ++gradients;
  return true;
}

void Accumulator::withdraw(const Contribution& before) noexcept {
  const Entry& newest = gradients_.back();
  auto& [counts, last, gradients] = replicas_[static_cast<std::size_t>(newest.replica)];
  --gradients;
  --counts.counted;
  counts.not_finite -= !newest.is_finite;
  last = before;
  gradients_.pop_back();
}

bool Accumulator::has(int replica) const {
  const auto place = static_cast<std::size_t>(replica);
  return place < replicas_.size() && replicas_[place].gradients > 0;
}

bool Accumulator::has_counted(int replica, std::int64_t step) const {
  const auto place = static_cast<std::size_t>(replica);
  return place < replicas_.size() && replicas_[place].last.step >= step;
}

void Accumulator::merge(Device& device, Team* team) {
  merge(gradients_.back(), device, team);
  merges_ = true;
}

void Accumulator::merge(Entry& entry, Device& device, Team* team) {
  if (!entry.gradient || !entry.gradient->is_dense()) return;
  sum_.add(entry.gradient->dense, device, team);
  entry.gradient.reset();
}

Accumulator::Gathered Accumulator::gather(Device& device, Team* team) {
  ACTORFLOW_CHECK(!gradients_.empty(), "no gradient at step", global_step_);
  Tensor last;
  if (merges_) {
    for (auto& entry : std::span(gradients_).first(gradients_.size() - 1)) merge(entry, device, team);
    if (auto& newest = gradients_.back().gradient; newest && newest->is_dense())
      last = std::exchange(newest, std::nullopt)->dense;
  }
  const auto entries = in_order();
  Gathered all{.gradients = {}, .learning_rate = entries.front()->learning_rate};
  if (sum_.count() > 0 || last.valid())
    all.gradients.push_back(sum_.mean(std::move(last), device, team));
  for (const Entry* entry : entries)
    if (const auto& kept = entry->gradient)
      all.gradients.push_back(kept->is_dense() ? Gradient(on_device(kept->dense, device)) : *kept);
  return all;
}

std::vector<const Accumulator::Entry*> Accumulator::in_order() const {
  std::vector<const Entry*> entries;
  for (const auto& entry : gradients_) entries.push_back(&entry);
  std::ranges::sort(entries, {},
                    [](const Entry* entry) { return std::tuple(entry->replica, entry->contribution); });
  return entries;
}

void Accumulator::advance() noexcept {
  for (const auto& entry : gradients_) {
    global_step_ = std::max(global_step_, entry.contribution.step);
    replicas_[static_cast<std::size_t>(entry.replica)].gradients = 0;
  }
  gradients_.clear();
  sum_ = {};
  merges_ = false;
  ++global_step_;
}

Accumulator::Replica& Accumulator::replica(int index) {
  const auto place = static_cast<std::size_t>(index);
  if (place >= replicas_.size()) replicas_.resize(place + 1);
  return replicas_[place];
}

}  // namespace actorflow
