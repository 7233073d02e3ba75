#include "apps/launch/elastic/world.h"

#include <algorithm>
#include <tuple>

namespace actorflow {

LaunchedWorld next_world(const LaunchedWorld& last, std::span<const Candidate> candidates, int most) {
  const auto rank_before = [&last](const Candidate& each) {
    const auto at = std::ranges::find(last.members, each.task);
    return each.epoch == last.epoch ? at - last.members.begin() : std::ssize(last.members);
  };
  // The smallest claim wins: tasks with a state first, then members of the last world, then later steps.
  const auto claim = [&](const Candidate& each) {
    return std::tuple(each.step < 0, each.epoch != last.epoch, -each.step, rank_before(each), each.task);
  };
  const auto place = [&](const Candidate& each) { return std::tuple(rank_before(each), each.task); };
  std::vector<Candidate> order(candidates.begin(), candidates.end());
  std::ranges::iter_swap(order.begin(), std::ranges::min_element(order, {}, claim));
  std::ranges::sort(order.begin() + 1, order.end(), {}, place);
  LaunchedWorld next{.epoch = last.epoch + 1, .step = order.front().step};
  for (const auto& each : order)
    if (std::ssize(next.members) < most) next.members.push_back(each.task);
  return next;
}

}  // namespace actorflow
