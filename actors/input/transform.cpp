// What makes elements of elements.
#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <utility>

#include "actors/input/stages.h"
#include "kernels/devices/team.h"

namespace actorflow {
namespace {

class BatchStage final : public Stage {
 public:
  BatchStage(StageRef input, std::int64_t size, const BatchOptions& options)
      : input_(std::move(input)), size_(size), drop_remainder_(options.drop_remainder) {}

  void restart(std::int64_t pass) override { input_->restart(pass); }

  bool next(Tuple& element) override {
    RowStacker rows(size_);
    const std::int64_t got = input_->append(size_, rows);
    if (got == 0 || (got < size_ && drop_remainder_)) return false;
    element = rows.take();
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / size_;
    const std::int64_t passed = input_->skip(std::min(count, most) * size_);
    return passed / size_ + (passed % size_ > 0 && !drop_remainder_ ? 1 : 0);
  }

 private:
  StageRef input_;
  std::int64_t size_;
  bool drop_remainder_;
};

class MapStage final : public Stage {
 public:
  MapStage(StageRef input, Dataset::Map function)
      : input_(std::move(input)), function_(std::move(function)) {}

  void restart(std::int64_t pass) override { input_->restart(pass); }
  bool next(Tuple& element) override {
    if (!input_->next(element)) return false;
    element = function_(std::move(element));
    return true;
  }
  std::int64_t skip(std::int64_t count) override { return input_->skip(count); }

 private:
  StageRef input_;
  Dataset::Map function_;
};

// Maps a group of elements at a time: on the actor's thread and on others that are free.
class ParallelMapStage final : public Stage {
 public:
  ParallelMapStage(StageRef input, Dataset::Map function, int parallel, Team& team)
      : input_(std::move(input)), function_(std::move(function)), parallel_(parallel), team_(team) {}

  void restart(std::int64_t pass) override {
    input_->restart(pass);
    mapped_.clear();
  }

  bool next(Tuple& element) override {
    if (mapped_.empty()) map_group();
    if (mapped_.empty()) return false;
    element = std::move(mapped_.front());
    mapped_.pop_front();
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t here = std::min<std::int64_t>(count, std::ssize(mapped_));
    mapped_.erase(mapped_.begin(), mapped_.begin() + here);
    return here + (here < count ? input_->skip(count - here) : 0);
  }

 private:
  void map_group() {
    std::vector<Tuple> group;
    for (Tuple element; std::ssize(group) < parallel_ && input_->next(element);)
      group.push_back(std::move(element));
    if (group.empty()) return;
    team_.run(static_cast<int>(group.size()), [&](int i) {
      Tuple& element = group[static_cast<std::size_t>(i)];
      element = function_(std::move(element));
    });
    std::ranges::move(group, std::back_inserter(mapped_));
  }

  StageRef input_;
  Dataset::Map function_;
  int parallel_;
  Team& team_;
  std::deque<Tuple> mapped_;
};

class FilterStage final : public Stage {
 public:
  FilterStage(StageRef input, Dataset::Predicate keeps)
      : input_(std::move(input)), keeps_(std::move(keeps)) {}

  void restart(std::int64_t pass) override { input_->restart(pass); }
  bool next(Tuple& element) override {
    while (input_->next(element))
      if (keeps_(element)) return true;
    return false;
  }

 private:
  StageRef input_;
  Dataset::Predicate keeps_;
};

}  // namespace

StageRef batch_stage(StageRef input, std::int64_t size, const BatchOptions& options) {
  return std::make_unique<BatchStage>(std::move(input), size, options);
}
StageRef map_stage(StageRef input, Dataset::Map function) {
  return std::make_unique<MapStage>(std::move(input), std::move(function));
}
StageRef parallel_map_stage(StageRef input, Dataset::Map function, int parallel, Team* team) {
  if (!team) return map_stage(std::move(input), std::move(function));
  return std::make_unique<ParallelMapStage>(std::move(input), std::move(function), parallel, *team);
}
StageRef filter_stage(StageRef input, Dataset::Predicate keeps) {
  return std::make_unique<FilterStage>(std::move(input), std::move(keeps));
}

}  // namespace actorflow
