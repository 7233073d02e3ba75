#include "actors/jobs/sinks/hot_keys.h"

#include <algorithm>
#include <cmath>

#include "schema/records/key.h"

namespace actorflow {
namespace {

// Fewer in a sample are by chance.
constexpr std::uint64_t least_seen = 10;

double share_of(const SideSample& side, const SideSample::Count& count) {
  return count.pairs / side.pairs;
}

// Its weight in bytes of the side.
double weight_in(const SideSample& side, const std::string& key) {
  const auto found = side.keys.find(key);
  if (found == side.keys.end() || found->second.seen < least_seen) return 0;
  return share_of(side, found->second) * static_cast<double>(side.bytes);
}

}  // namespace

void HotKeys::add(HotKey hot) {
  hot.number = hot_.size();
  hot_.try_emplace(hash_bytes(std::as_bytes(std::span(hot.key))), std::move(hot));
}

const HotKey* HotKeys::find_among(std::uint64_t hash, std::span<const std::byte> key) const {
  const auto found = hot_.find(hash);
  if (found == hot_.end() || !std::ranges::equal(std::as_bytes(std::span(found->second.key)), key))
    return nullptr;
  return &found->second;
}

HotKeys hot_keys_of(const SideSample& left, const SideSample& right, std::size_t partitions) {
  HotKeys hot;
  const double equal_share =
      static_cast<double>(left.bytes + right.bytes) / static_cast<double>(partitions);
  const auto add_from = [&](const SideSample& side, const SideSample& other, JoinSide name) {
    for (const auto& [key, count] : side.keys) {
      const double weight = weight_in(side, key), beside = weight_in(other, key);
      const bool is_heavier = name == JoinSide::left ? weight >= beside : weight > beside;
      if (!is_heavier || weight <= equal_share / 2) continue;
      const double ways = std::min(std::ceil(2 * weight / equal_share), static_cast<double>(partitions));
      hot.add({key, name, share_of(side, count), static_cast<std::uint32_t>(ways)});
    }
  };
  add_from(left, right, JoinSide::left);
  add_from(right, left, JoinSide::right);
  return hot;
}

}  // namespace actorflow
