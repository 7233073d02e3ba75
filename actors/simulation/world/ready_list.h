// What can run at one moment, in order. With a thousand tasks that is many thousands of actors, of which
// one after the other is taken from the middle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace actorflow {

// A list of values that have a `number`. Taking one moves 12 bytes for each value behind it, however
// large these are. Not thread-safe.
template <class T>
class ReadyList {
 public:
  bool empty() const { return numbers_.empty(); }
  // The numbers of the values, in their order.
  std::span<const std::uint64_t> numbers() const { return numbers_; }

  void push_back(T value) {
    numbers_.push_back(value.number);
    if (free_.empty()) {
      slots_.push_back(static_cast<std::uint32_t>(values_.size()));
      values_.push_back(std::move(value));
    } else {
      slots_.push_back(free_.back());
      values_[free_.back()] = std::move(value);
      free_.pop_back();
    }
  }
  // Removes the value at the position.
  T take(std::size_t position) {
    const auto at = static_cast<std::ptrdiff_t>(position);
    const std::uint32_t slot = slots_[position];
    numbers_.erase(numbers_.begin() + at);
    slots_.erase(slots_.begin() + at);
    free_.push_back(slot);
    return std::exchange(values_[slot], T());
  }
  T take_last() { return take(numbers_.size() - 1); }
  template <class Condition>
  void erase_if(Condition&& condition) {
    for (std::size_t i = numbers_.size(); i-- > 0;)
      if (condition(values_[slots_[i]])) take(i);
  }

 private:
  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint32_t> slots_;  // of the values, in the order of the list
  std::vector<T> values_;
  std::vector<std::uint32_t> free_;  // slots
};

}  // namespace actorflow
