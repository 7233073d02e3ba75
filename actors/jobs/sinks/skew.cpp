#include "actors/jobs/sinks/skew.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "dataflow/values/error.h"

namespace actorflow {

void HeaviestKey::log(const PlanOperator& op, const Part& part, std::uint64_t all_pairs) const {
  if (pairs_ >= many && pairs_ > all_pairs / 2)
    spdlog::info("{}: the key {} has {} of the {} pairs of part {}", op.to_string(), key_, pairs_,
                 all_pairs, part.index());
}

void log_divided_key(const PlanOperator& op, const DividedKey& divided) {
  spdlog::info(
      "{}: the key {} has about {:.0f} % of the {} side: it is divided over {} of {} partitions",
      op.to_string(), divided.key, 100 * divided.share, divided.side, divided.ways, divided.partitions);
}

void throw_large_value(const PlanOperator& op, const std::string& key, std::size_t bytes,
                       std::size_t most_bytes) {
  throw Error(Code::invalid_argument,
              fmt::format("{}: the value of the key {} has grown to {} bytes, and a part may hold {}: "
                          "bring the values together by group_by_key(f), or give more --memory",
                          op.to_string(), key, bytes, most_bytes));
}

void KeyCounts::add(std::uint64_t hash, std::span<const std::byte> key, std::uint64_t bytes) {
  ++added_;
  all_bytes_ += bytes;
  if (key.size() > most_key_bytes) return;
  const std::string_view text(reinterpret_cast<const char*>(key.data()), key.size());
  const auto found = std::ranges::find_if(
      counts_, [&](const Count& count) { return count.hash == hash && count.key == text; });
  if (found != counts_.end())
    found->bytes += bytes;
  else if (counts_.size() < most_counts)
    counts_.push_back({hash, std::string(text), bytes});
  else
    replace_least(hash, text, bytes);
}

void KeyCounts::replace_least(std::uint64_t hash, std::string_view key, std::uint64_t bytes) {
  const std::uint64_t taken =
      std::min(bytes, std::ranges::min_element(counts_, {}, &Count::bytes)->bytes);
  for (Count& count : counts_) count.bytes -= taken;
  std::erase_if(counts_, [](const Count& count) { return count.bytes == 0; });
  if (bytes > taken) counts_.push_back({hash, std::string(key), bytes - taken});
}

const KeyCounts::Count* KeyCounts::heaviest() const {
  if (added_ < enough) return nullptr;
  const auto found = std::ranges::max_element(counts_, {}, &Count::bytes);
  return found != counts_.end() && found->bytes > all_bytes_ / most_counts ? &*found : nullptr;
}

}  // namespace actorflow
