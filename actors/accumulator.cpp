#include "actors/accumulator.h"

#include <algorithm>

namespace actorflow {

bool Accumulator::add(int replica, std::int64_t local_step, Tensor gradient) {
  if (local_step < global_step_) {
    ++dropped_;
    return false;
  }
  gradients_.push_back({replica, local_step, std::move(gradient)});
  return true;
}

bool Accumulator::has(int replica) const {
  return std::ranges::any_of(gradients_,
                             [replica](const Entry& entry) { return entry.replica == replica; });
}

std::vector<Tensor> Accumulator::take() {
  std::ranges::stable_sort(gradients_, {}, &Entry::replica);
  std::vector<Tensor> taken;
  for (auto& entry : gradients_) {
    global_step_ = std::max(global_step_, entry.local_step);
    taken.push_back(std::move(entry.gradient));
  }
  gradients_.clear();
  ++global_step_;
  return taken;
}

}  // namespace actorflow
