#include "schema/formats/line_blocks.h"

#include <algorithm>
#include <string>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::size_t no_end = std::string_view::npos;
// Behind the split only the rest of its last line is wanted.
constexpr std::size_t bytes_behind_split = std::size_t{1} << 16;

}  // namespace

std::string_view LineBlocks::next() {
  if (!begun_) find_first_line();
  if (here() >= split_.end) return {};
  std::size_t end = no_end;
  while ((end = end_of_run()) == no_end) {
    if (ended_) {
      end = size_;
      break;
    }
    if (size_ - at_ > limits_.max_line_bytes)
      throw Error(Code::invalid_argument,
                  file() + ": the line at byte " + std::to_string(here()) + " is longer than " +
                      std::to_string(limits_.max_line_bytes) + " bytes; " + limits_.advice);
    read_more();
  }
  const std::string_view run(buffer_.get() + at_, end - at_);
  run_offset_ = here();
  at_ = searched_ = end;
  return run;
}

// A split begins within a line, unless the byte before it ends one.
void LineBlocks::find_first_line() {
  begun_ = true;
  if (split_.begin == 0) return;
  offset_ = source_->skip(split_.begin - 1);
  ended_ = offset_ < split_.begin - 1;
  std::size_t end = no_end;
  while (here() < split_.end && (end = find_end(at_)) == no_end) {
    at_ = searched_ = size_;
    if (ended_) return;
    read_more();
  }
  if (end != no_end) at_ = searched_ = end;
}

// Behind the last line that is whole and of the split; no_end if there is none yet.
std::size_t LineBlocks::end_of_run() {
  std::size_t whole = size_;  // lines that end before here are of the split
  if (split_.end - offset_ <= size_) {
    const auto last = static_cast<std::size_t>(split_.end - offset_) - 1;
    if (const std::size_t end = find_end(std::max(last, searched_)); end != no_end) return end;
    whole = last;
  }
  if (whole > searched_)
    if (const void* found = memrchr(buffer_.get() + searched_, '\n', whole - searched_))
      return static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.get()) + 1;
  searched_ = size_;
  return no_end;
}

// Behind the first end of a line from there on; no_end if there is none.
std::size_t LineBlocks::find_end(std::size_t from) const {
  const void* found = from < size_ ? std::memchr(buffer_.get() + from, '\n', size_ - from) : nullptr;
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.get()) + 1 : no_end;
}

// Moves the lines that were not given yet to the front, and reads behind them.
void LineBlocks::read_more() {
  const std::uint64_t end = offset_ + size_;
  const std::size_t wanted =
      end < split_.end
          ? static_cast<std::size_t>(std::min<std::uint64_t>(limits_.block_bytes, split_.end - end))
          : std::min(limits_.block_bytes, bytes_behind_split);
  const std::size_t left = size_ - at_;
  if (left + wanted > capacity_) {
    capacity_ = std::max(left + wanted, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    if (left > 0) std::memcpy(larger.get(), buffer_.get() + at_, left);
    buffer_ = std::move(larger);
  } else if (at_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + at_, left);
  }
  offset_ += at_;
  searched_ -= at_;
  at_ = 0;
  const std::size_t got = source_->read(std::as_writable_bytes(std::span(buffer_.get() + left, wanted)));
  size_ = left + got;
  ended_ = got < wanted;
}

}  // namespace actorflow
