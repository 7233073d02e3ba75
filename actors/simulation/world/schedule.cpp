#include "actors/simulation/world/schedule.h"

#include <algorithm>

namespace actorflow {

std::uint64_t SeededRandom::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double SeededRandom::fraction() { return static_cast<double>(next() >> 11) * 0x1p-53; }

bool SeededRandom::chance(double probability) { return probability > 0 && fraction() < probability; }

std::size_t RandomSchedule::choose(std::span<const std::uint64_t> actors) {
  return static_cast<std::size_t>(random_.below(actors.size()));
}

PctSchedule::PctSchedule(std::uint64_t seed, int depth, std::uint64_t length) : random_(seed) {
  for (int i = 1; i < depth; ++i) changes_.insert(random_.below(std::max<std::uint64_t>(length, 1)));
}

std::size_t PctSchedule::choose(std::span<const std::uint64_t> actors) {
  constexpr std::int64_t range = std::int64_t{1} << 40;
  const auto priority = [this](std::uint64_t actor) {
    const auto [entry, fresh] = priorities_.try_emplace(actor, 0);
    if (fresh) entry->second = 1 + static_cast<std::int64_t>(random_.below(range));
    return entry->second;
  };
  const auto highest = [&] {
    std::size_t best = 0;
    for (std::size_t i = 1; i < actors.size(); ++i)
      if (priority(actors[i]) > priority(actors[best])) best = i;
    return best;
  };
  if (changes_.contains(choices_++)) priorities_[actors[highest()]] = --lowest_;
  return highest();
}

// Follows the path of its search, and lengthens it where it ends.
class ExhaustiveSchedule final : public Schedule {
 public:
  explicit ExhaustiveSchedule(ExhaustiveSearch& search) : search_(search) {}

  std::size_t choose(std::span<const std::uint64_t> actors) override {
    if (next_ == search_.max_choices_) {
      search_.complete_ = false;
      return 0;
    }
    if (next_ == search_.path_.size()) search_.path_.push_back({0, actors.size()});
    return search_.path_[next_++].chosen;
  }

 private:
  ExhaustiveSearch& search_;
  std::size_t next_ = 0;
};

std::unique_ptr<Schedule> ExhaustiveSearch::schedule() {
  return std::make_unique<ExhaustiveSchedule>(*this);
}

bool ExhaustiveSearch::advance() {
  while (!path_.empty() && path_.back().chosen + 1 == path_.back().of) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().chosen;
  return true;
}

}  // namespace actorflow
