// Where elements come from.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/input/stages.h"

namespace actorflow {
namespace {

class TensorsStage final : public Stage {
 public:
  explicit TensorsStage(Tuple columns) : columns_(std::move(columns)), rows_(rows_of(columns_)) {}

  void restart(std::int64_t) override { position_ = 0; }
  bool next(Tuple& element) override {
    if (position_ == rows_) return false;
    element = row_of(columns_, position_++);
    return true;
  }
  std::int64_t skip(std::int64_t count) override {
    const std::int64_t skipped = std::min(count, rows_ - position_);
    position_ += skipped;
    return skipped;
  }
  std::int64_t append(std::int64_t count, RowStacker& rows) override {
    const std::int64_t added = std::min(count, rows_ - position_);
    for (std::int64_t i = 0; i < added; ++i) rows.add_row(columns_, position_++);
    return added;
  }
  const Tuple* columns() const override { return &columns_; }

 private:
  Tuple columns_;
  std::int64_t rows_;
  std::int64_t position_ = 0;
};

// Opens its file at its first use in a pass.
class ReaderStage final : public Stage {
 public:
  ReaderStage(OpenReader open, const InputContext& context) : open_(std::move(open)), context_(context) {}

  void restart(std::int64_t) override { reader_.reset(); }
  bool next(Tuple& element) override { return reader().next(element); }
  std::int64_t skip(std::int64_t count) override { return reader().skip(count); }

 private:
  ElementReader& reader() {
    if (!reader_) reader_ = open_(context_);
    return *reader_;
  }

  OpenReader open_;
  InputContext context_;
  std::unique_ptr<ElementReader> reader_;
};

class ZipStage final : public Stage {
 public:
  ZipStage(std::vector<StageRef> inputs, bool equal_lengths, std::string names)
      : inputs_(std::move(inputs)), equal_lengths_(equal_lengths), names_(std::move(names)) {}

  void restart(std::int64_t pass) override {
    position_ = 0;
    for (const auto& input : inputs_) input->restart(pass);
  }

  bool next(Tuple& element) override {
    Tuple joined, part;
    std::size_t ended = 0;
    for (const auto& input : inputs_) {
      if (input->next(part))
        std::ranges::move(part, std::back_inserter(joined));
      else
        ++ended;
    }
    if (ended > 0) return at_end(ended);
    ++position_;
    element = std::move(joined);
    return true;
  }

  std::int64_t skip(std::int64_t count) override {
    std::int64_t least = count, most = 0;
    for (const auto& input : inputs_) {
      const std::int64_t skipped = input->skip(count);
      least = std::min(least, skipped);
      most = std::max(most, skipped);
    }
    position_ += least;
    if (least < most) at_end(1);
    return least;
  }

 private:
  bool at_end(std::size_t ended) const {
    if (equal_lengths_ && ended < inputs_.size())
      throw Error(Code::data_loss,
                  fmt::format("{}: expected as many elements in each, but one has only {}; take them from "
                              "one source",
                              names_, position_));
    return false;
  }

  std::vector<StageRef> inputs_;
  bool equal_lengths_;
  std::string names_;
  std::int64_t position_ = 0;
};

class ConcatenateStage final : public Stage {
 public:
  explicit ConcatenateStage(std::vector<StageRef> inputs) : inputs_(std::move(inputs)) {}

  void restart(std::int64_t pass) override {
    current_ = 0;
    for (const auto& input : inputs_) input->restart(pass);
  }
  bool next(Tuple& element) override {
    for (; current_ < inputs_.size(); ++current_)
      if (inputs_[current_]->next(element)) return true;
    return false;
  }
  std::int64_t skip(std::int64_t count) override {
    std::int64_t skipped = 0;
    while (current_ < inputs_.size()) {
      skipped += inputs_[current_]->skip(count - skipped);
      if (skipped == count) break;
      ++current_;
    }
    return skipped;
  }

 private:
  std::vector<StageRef> inputs_;
  std::size_t current_ = 0;
};

class InterleaveStage final : public Stage {
 public:
  InterleaveStage(std::vector<StageRef> inputs, std::int64_t block_length)
      : inputs_(std::move(inputs)), block_length_(block_length) {}

  void restart(std::int64_t pass) override {
    turns_.clear();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      inputs_[i]->restart(pass);
      turns_.push_back(i);
    }
    turn_ = 0;
    given_ = 0;
  }

  bool next(Tuple& element) override {
    while (!turns_.empty()) {
      if (inputs_[turns_[turn_]]->next(element)) {
        if (++given_ == block_length_) pass_on(turn_ + 1);
        return true;
      }
      turns_.erase(turns_.begin() + static_cast<std::ptrdiff_t>(turn_));
      if (!turns_.empty()) pass_on(turn_);
    }
    return false;
  }

 private:
  void pass_on(std::size_t turn) {
    turn_ = turn % turns_.size();
    given_ = 0;
  }

  std::vector<StageRef> inputs_;
  std::int64_t block_length_;
  std::vector<std::size_t> turns_;  // those that have not ended
  std::size_t turn_ = 0;
  std::int64_t given_ = 0;  // in this turn
};

}  // namespace

StageRef tensors_stage(Tuple columns) { return std::make_unique<TensorsStage>(std::move(columns)); }
StageRef reader_stage(OpenReader open, const InputContext& context) {
  return std::make_unique<ReaderStage>(std::move(open), context);
}
StageRef zip_stage(std::vector<StageRef> inputs, bool equal_lengths, std::string names) {
  return std::make_unique<ZipStage>(std::move(inputs), equal_lengths, std::move(names));
}
StageRef concatenate_stage(std::vector<StageRef> inputs) {
  return std::make_unique<ConcatenateStage>(std::move(inputs));
}
StageRef interleave_stage(std::vector<StageRef> inputs, std::int64_t block_length) {
  return std::make_unique<InterleaveStage>(std::move(inputs), block_length);
}

}  // namespace actorflow
