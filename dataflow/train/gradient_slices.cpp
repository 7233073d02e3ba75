#include "dataflow/train/gradient_slices.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "dataflow/collectives/schedule.h"
#include "dataflow/train/gradient_buckets.h"

namespace actorflow {
namespace {

using Numbers = std::vector<std::int64_t>;

class Slicing {
 public:
  Slicing(std::span<const Output> gradients, int ranks)
      : gradients_(gradients), ranks_(ranks), loads_(static_cast<std::size_t>(ranks)) {}

  // Equal parts of all elements, wherever they cut.
  SlicedBucket evenly(std::vector<std::size_t> members) const {
    SlicedBucket bucket{std::move(members), {}};
    std::int64_t all = 0, first = 0;
    for (const std::size_t i : bucket.members) all += elements(i);
    for (const std::size_t i : bucket.members) {
      for (int rank = 0; rank <= ranks_; ++rank)
        bucket.borders.push_back(
            std::clamp(slice_begin(all, ranks_, rank) - first, std::int64_t{0}, elements(i)));
      first += elements(i);
    }
    return bucket;
  }

  // Each variable goes, the largest first, to the rank that has the least so far.
  SlicedBucket by_variable(std::vector<std::size_t> members) {
    std::ranges::stable_sort(members, std::greater<>{}, [this](std::size_t i) { return elements(i); });
    std::vector<std::pair<std::int64_t, std::size_t>> owned;  // rank, gradient
    for (const std::size_t i : members) {
      const auto least = std::ranges::min_element(loads_);
      *least += elements(i);
      owned.emplace_back(least - loads_.begin(), i);
    }
    std::ranges::stable_sort(owned, {}, [](const auto& entry) { return entry.first; });
    SlicedBucket bucket;
    for (const auto& [owner, i] : owned) {
      bucket.members.push_back(i);
      for (int rank = 0; rank <= ranks_; ++rank)
        bucket.borders.push_back(rank <= owner ? 0 : elements(i));
    }
    return bucket;
  }

 private:
  std::int64_t elements(std::size_t i) const { return gradients_[i].shape().elements(); }

  const std::span<const Output> gradients_;
  const int ranks_;
  Numbers loads_;  // elements of each rank
};

// The positions of each optimizer's gradients.
std::vector<std::vector<std::size_t>> by_optimizer(std::span<const Optimizer> optimizers) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < optimizers.size(); ++i) {
    const auto same = std::ranges::find_if(
        groups, [&](const auto& group) { return optimizers[group[0]] == optimizers[i]; });
    same == groups.end() ? groups.push_back({i}) : same->push_back(i);
  }
  return groups;
}

}  // namespace

bool is_elementwise(const Optimizer& optimizer) {
  static constexpr std::array names = {Sgd::name,     Momentum::name, Nesterov::name,
                                       Adagrad::name, Adam::name,     RmsProp::name,
                                       AdamW::name,   Lion::name,     Ftrl::name};
  return std::ranges::find(names, optimizer.name()) != names.end();
}

std::vector<SlicedBucket> plan_slices(std::span<const Output> gradients,
                                      std::span<const Optimizer> optimizers, const AllReduce& options) {
  Slicing slicing(gradients, static_cast<int>(options.tasks.size()));
  std::vector<SlicedBucket> buckets;
  for (const auto& group : by_optimizer(optimizers)) {
    std::vector<Output> of_group;
    for (const std::size_t i : group) of_group.push_back(gradients[i]);
    for (auto& members : plan_buckets(of_group, options)) {
      for (std::size_t& i : members) i = group[i];
      buckets.push_back(is_elementwise(optimizers[group[0]]) ? slicing.evenly(std::move(members))
                                                             : slicing.by_variable(std::move(members)));
    }
  }
  return buckets;
}

}  // namespace actorflow
