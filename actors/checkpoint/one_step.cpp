#include "actors/checkpoint/one_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string name_of(const std::string& update) {
  return update.empty() ? "the global step" : fmt::format("the steps of '{}'", update);
}

}  // namespace

void SeenUpdates::add(std::span<const std::string> updates, std::span<const std::int64_t> numbers) {
  if (numbers.size() != 3 * updates.size())
    throw Error(Code::internal,
                fmt::format("{} numbers for {} kinds of updates", numbers.size(), updates.size()));
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const auto lowest = numbers[3 * i], highest = numbers[3 * i + 1], counted = numbers[3 * i + 2];
    Range& range = ranges_[updates[i]];
    if (lowest >= 0) range.lowest = range.lowest < 0 ? lowest : std::min(range.lowest, lowest);
    range.highest = std::max(range.highest, highest);
    range.counted = std::max(range.counted, counted);
  }
}

// Counted, but in no variable: of variables that are not saved, or that have a new value since.
std::string SeenUpdates::differences() const {
  std::string text;
  for (const auto& [update, range] : ranges_) {
    if (range.highest < 0 || (range.lowest == range.highest && range.highest == range.counted)) continue;
    text += fmt::format("{}{}: variables between {} and {}, counted {}", text.empty() ? "" : "; ",
                        name_of(update), range.lowest, range.highest, range.counted);
  }
  return text;
}

}  // namespace actorflow
