#include "actors/checkpoint/file_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace actorflow {
namespace {

constexpr std::string_view manifest_suffix = ".manifest";

// The number behind a prefix, which both are taken off; -1 if the text does not begin so.
std::int64_t take_number(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return -1;
  std::int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + prefix.size(), end, number);
  if (error != std::errc() || number < 0) return -1;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Whether this stands behind the step in the name of a file that a checkpoint consists of, or of one in
// the making (".<process>-<number>.tmp", file_storage.cpp).
bool is_suffix(std::string_view text) {
  if (!take_word(text, manifest_suffix)) {
    take_word(text, ".again");
    if (take_number(text, ".") < 0 || take_number(text, "-of-") < 0 || !take_word(text, ".safetensors"))
      return false;
  }
  return text.empty() || (text.starts_with('.') && text.ends_with(".tmp"));
}

}  // namespace

FileName::FileName(std::string_view name)
    : step(take_number(name, "step-")),
      epoch(std::max<std::int64_t>(0, take_number(name, ".epoch-"))),
      suffix(name) {
  if (!is_suffix(suffix)) step = -1;
}

bool FileName::is_manifest() const { return suffix == manifest_suffix; }

std::string name_begin(std::int64_t step, std::int64_t epoch) {
  return epoch > 0 ? fmt::format("step-{}.epoch-{}", step, epoch) : fmt::format("step-{}", step);
}

std::string manifest_name(std::int64_t step, std::int64_t epoch) {
  return fmt::format("{}{}", name_begin(step, epoch), manifest_suffix);
}

SavedSteps saved_among(const std::vector<std::string>& names) {
  SavedSteps saved;
  for (const auto& name : names)
    if (const FileName parts(name); parts.step >= 0 && parts.is_manifest())
      saved[parts.step].insert(parts.epoch);
  return saved;
}

std::set<std::int64_t> overruled_steps(const SavedSteps& saved) {
  std::set<std::int64_t> overruled;
  std::int64_t newest_before = 0;
  for (const auto& [step, epochs] : saved) {
    const std::int64_t counts = *epochs.rbegin();
    if (counts > 0 && counts < newest_before) overruled.insert(step);
    newest_before = std::max(newest_before, *std::ranges::max_element(epochs));
  }
  return overruled;
}

}  // namespace actorflow
