// Two ways to shuffle: all elements, or those in a buffer.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "actors/input/draw.h"
#include "actors/input/stages.h"

namespace actorflow {
namespace {

// Draws an order of all elements for each pass (Fisher and Yates), which does not depend on the passes
// before it: so it can be entered anywhere. Holds the elements as rows, shared where the input has them so.
class ShuffleAllStage final : public Stage {
 public:
  ShuffleAllStage(StageRef input, const ShuffleOptions& options)
      : input_(std::move(input)), options_(options) {}

  void restart(std::int64_t pass) override {
    pass_ = options_.each_pass_anew ? pass : 0;
    position_ = 0;
    if (!read_) input_->restart(0);
  }

  bool next(Tuple& element) override {
    if (position_ == rows()) return false;
    element = row_of(elements(), order()[static_cast<std::size_t>(position_)]);
    ++position_;
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, rows() - position_);
    position_ += skipped;
    return skipped;
  }

  std::int64_t append(std::int64_t count, RowStacker& stacker) override {
    const std::int64_t added = std::min(count, rows() - position_);
    if (added == 0) return 0;
    stacker.add_rows(elements(), order().subspan(static_cast<std::size_t>(position_),
                                                 static_cast<std::size_t>(added)));
    position_ += added;
    return added;
  }

 private:
  const Tuple& elements() const { return input_->columns() ? *input_->columns() : own_; }

  std::int64_t rows() {
    if (!read_) {
      if (!input_->columns()) read_input();
      const std::int64_t count = elements().empty() ? 0 : rows_of(elements());
      if (count > std::numeric_limits<std::uint32_t>::max())
        throw Error(Code::resource_exhausted,
                    fmt::format("{} elements are too many to shuffle as a whole; give the shuffle a buffer",
                                count));
      order_.resize(static_cast<std::size_t>(count));
      read_ = true;
    }
    return static_cast<std::int64_t>(order_.size());
  }

  void read_input() {
    constexpr std::int64_t at_a_time = 1 << 20;
    RowStacker all(0);
    while (input_->append(at_a_time, all) == at_a_time) {
    }
    own_ = all.take();
  }

  // Of the elements in this pass.
  std::span<const std::uint32_t> order() {
    if (drawn_pass_ != pass_) draw_order();
    return order_;
  }

  void draw_order() {
    auto random = engine_of(options_.seed, pass_);
    std::iota(order_.begin(), order_.end(), 0u);
    for (auto i = static_cast<std::uint32_t>(order_.size()); i > 1; --i)
      std::swap(order_[i - 1], order_[draw_below(random, i)]);
    drawn_pass_ = pass_;
  }

  StageRef input_;
  ShuffleOptions options_;
  bool read_ = false;
  Tuple own_;                            // the elements, unless the input has them
  std::vector<std::uint32_t> order_;     // of the elements in drawn_pass_
  std::int64_t pass_ = 0;
  std::optional<std::int64_t> drawn_pass_;
  std::int64_t position_ = 0;
};

// Each element is drawn from the next `buffer` ones that are left, as TensorFlow does.
class ShuffleBufferStage final : public Stage {
 public:
  ShuffleBufferStage(StageRef input, const ShuffleOptions& options)
      : input_(std::move(input)), options_(options) {}

  void restart(std::int64_t pass) override {
    input_->restart(pass);
    random_ = engine_of(options_.seed, options_.each_pass_anew ? pass : 0);
    buffer_.clear();
    input_ended_ = false;
  }

  bool next(Tuple& element) override {
    while (!input_ended_ && std::ssize(buffer_) < options_.buffer) {
      Tuple read;
      if (input_->next(read))
        buffer_.push_back(std::move(read));
      else
        input_ended_ = true;
    }
    if (buffer_.empty()) return false;
    std::swap(buffer_[draw_below(random_, static_cast<std::uint32_t>(buffer_.size()))], buffer_.back());
    element = std::move(buffer_.back());
    buffer_.pop_back();
    return true;
  }

 private:
  StageRef input_;
  ShuffleOptions options_;
  std::mt19937_64 random_;
  std::vector<Tuple> buffer_;
  bool input_ended_ = false;
};

}  // namespace

StageRef shuffle_all_stage(StageRef input, const ShuffleOptions& options) {
  return std::make_unique<ShuffleAllStage>(std::move(input), options);
}
StageRef shuffle_buffer_stage(StageRef input, const ShuffleOptions& options) {
  return std::make_unique<ShuffleBufferStage>(std::move(input), options);
}

}  // namespace actorflow
