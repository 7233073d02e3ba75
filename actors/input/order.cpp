// What chooses and repeats elements without looking at them.
#include <algorithm>
#include <utility>

#include "actors/input/stages.h"

namespace actorflow {
namespace {

class ShardStage final : public Stage {
 public:
  ShardStage(StageRef input, std::int64_t count, std::int64_t index)
      : input_(std::move(input)), count_(count), index_(index) {}

  void restart(std::int64_t pass) override {
    input_->restart(pass);
    others_ = index_;
  }

  bool next(Tuple& element) override {
    others_ -= input_->skip(others_);
    if (others_ > 0 || !input_->next(element)) return false;
    others_ = count_ - 1;
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    if (count == 0) return 0;
    const std::int64_t wanted = others_ + 1 + (count - 1) * count_;
    const std::int64_t passed = input_->skip(wanted);
    const std::int64_t skipped = passed <= others_ ? 0 : 1 + (passed - others_ - 1) / count_;
    others_ = passed == wanted ? count_ - 1 : others_ + skipped * count_ - passed;
    return skipped;
  }

 private:
  StageRef input_;
  std::int64_t count_, index_;
  std::int64_t others_ = 0;  // elements of other shards before our next one
};

class RepeatStage final : public Stage {
 public:
  RepeatStage(StageRef input, std::int64_t passes) : input_(std::move(input)), passes_(passes) {}

  void restart(std::int64_t pass) override {
    first_pass_ = passes_ < 0 ? 0 : pass * passes_;
    begin_pass(0);
  }

  bool next(Tuple& element) override {
    return each_pass([&] { return input_->next(element) ? 1 : 0; }, 1) == 1;
  }
  std::int64_t skip(std::int64_t count) override {
    std::int64_t left = count;
    return each_pass([&] { return passed(left, input_->skip(left)); }, count);
  }
  std::int64_t append(std::int64_t count, RowStacker& rows) override {
    std::int64_t left = count;
    return each_pass([&] { return passed(left, input_->append(left, rows)); }, count);
  }

 private:
  static std::int64_t passed(std::int64_t& left, std::int64_t got) {
    left -= got;
    return got;
  }

  // Calls `take` in as many passes as it needs for `wanted` elements; an empty pass is the end, or it
  // would go on for ever.
  template <class Take>
  std::int64_t each_pass(Take take, std::int64_t wanted) {
    std::int64_t done = 0;
    while (pass_ != passes_) {
      const std::int64_t got = take();
      done += got;
      empty_ = empty_ && got == 0;
      if (done == wanted) return done;
      if (empty_) break;
      begin_pass(pass_ + 1);
    }
    return done;
  }

  void begin_pass(std::int64_t pass) {
    pass_ = pass;
    empty_ = true;
    if (pass_ != passes_) input_->restart(first_pass_ + pass_);
  }

  StageRef input_;
  std::int64_t passes_;
  std::int64_t first_pass_ = 0;  // where repetitions are nested
  std::int64_t pass_ = 0;
  bool empty_ = true;  // this pass, so far
};

class TakeStage final : public Stage {
 public:
  TakeStage(StageRef input, std::int64_t count) : input_(std::move(input)), count_(count) {}

  void restart(std::int64_t pass) override {
    input_->restart(pass);
    left_ = count_;
  }
  bool next(Tuple& element) override {
    if (left_ == 0 || !input_->next(element)) return false;
    --left_;
    return true;
  }
  std::int64_t skip(std::int64_t count) override { return took(input_->skip(std::min(count, left_))); }
  std::int64_t append(std::int64_t count, RowStacker& rows) override {
    return took(input_->append(std::min(count, left_), rows));
  }

 private:
  std::int64_t took(std::int64_t elements) {
    left_ -= elements;
    return elements;
  }

  StageRef input_;
  std::int64_t count_;
  std::int64_t left_ = 0;
};

// Gives what its input gives; only where a pass begins is another place.
class ForwardingStage : public Stage {
 public:
  explicit ForwardingStage(StageRef input) : input_(std::move(input)) {}

  bool next(Tuple& element) override { return input_->next(element); }
  std::int64_t skip(std::int64_t count) override { return input_->skip(count); }
  std::int64_t append(std::int64_t count, RowStacker& rows) override {
    return input_->append(count, rows);
  }

 protected:
  StageRef input_;
};

class SkipStage final : public ForwardingStage {
 public:
  SkipStage(StageRef input, std::int64_t count) : ForwardingStage(std::move(input)), count_(count) {}

  void restart(std::int64_t pass) override {
    input_->restart(pass);
    input_->skip(count_);
  }

 private:
  std::int64_t count_;
};

class LaterPassesStage final : public ForwardingStage {
 public:
  LaterPassesStage(StageRef input, std::int64_t first)
      : ForwardingStage(std::move(input)), first_(first) {}

  void restart(std::int64_t pass) override { input_->restart(first_ + pass); }

 private:
  std::int64_t first_;
};

}  // namespace

StageRef shard_stage(StageRef input, std::int64_t count, std::int64_t index) {
  return std::make_unique<ShardStage>(std::move(input), count, index);
}
StageRef repeat_stage(StageRef input, std::int64_t passes) {
  return std::make_unique<RepeatStage>(std::move(input), passes);
}
StageRef take_stage(StageRef input, std::int64_t count) {
  return std::make_unique<TakeStage>(std::move(input), count);
}
StageRef skip_stage(StageRef input, std::int64_t count) {
  return std::make_unique<SkipStage>(std::move(input), count);
}
StageRef later_passes_stage(StageRef input, std::int64_t first) {
  return std::make_unique<LaterPassesStage>(std::move(input), first);
}

}  // namespace actorflow
