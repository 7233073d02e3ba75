// Hot keys: keys of a join with so many pairs that the part that joins them would have much more work
// than others.
//
// The pairs of such a key on its heavier side are dealt out to several partitions, and those of the
// other side go to each of these: so every two values still meet once. A sample of both sides, taken
// before they are divided, tells which keys are hot. Sides that cost much to run twice are not sampled;
// cache() makes them cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/jobs/sinks/sampling.h"
#include "actors/jobs/sinks/sinks.h"
#include "actors/jobs/sinks/skew.h"
#include "dataflow/values/check.h"

namespace actorflow {

enum class JoinSide { left, right };

struct HotKey {
  std::string key;  // its bytes
  JoinSide divided = JoinSide::left;
  double share = 0;        // of that side's pairs
  std::uint32_t ways = 0;  // into so many partitions, from the key's own on
  std::size_t number = 0;  // among the hot keys
};

// Thread-safe while nothing is added.
class HotKeys {
 public:
  void add(HotKey hot);
  std::size_t size() const { return hot_.size(); }
  // Null for other keys.
  const HotKey* find(std::uint64_t hash, std::span<const std::byte> key) const {
    return hot_.empty() ? nullptr : find_among(hash, key);
  }
  const std::map<std::uint64_t, HotKey>& all() const { return hot_; }

 private:
  const HotKey* find_among(std::uint64_t hash, std::span<const std::byte> key) const;

  std::map<std::uint64_t, HotKey> hot_;
};

// How often keys come up in a sample of one side.
struct SideSample {
  struct Count {
    std::uint64_t seen = 0;  // in the sample
    double pairs = 0;        // of which these stand for so many
  };
  std::map<std::string, Count> keys;  // by their bytes
  double pairs = 0;
  std::uint64_t bytes = 0;  // of the whole side
};

// The keys that take more than half of an equal share of the partitions.
HotKeys hot_keys_of(const SideSample& left, const SideSample& right, std::size_t partitions);

template <class Pair>
struct KeySample {
  using Sampled = std::string;

  Sampled operator()(const Pair& record) const {
    std::vector<std::byte> scratch;
    const auto key = key_bytes(record.first, scratch);
    return {reinterpret_cast<const char*>(key.data()), key.size()};
  }
};

template <class Pipe>
SideSample sample_side(JobContext& job, const Pipe& pipe, const PlanOperator& op) {
  SideSample side;
  side.bytes = pipe.facts().bytes();
  if constexpr (Pipe::is_cheap)
    for (const auto& part :
         sample_parts(job, pipe, op, [](Part&) { return KeySample<typename Pipe::Record>(); })) {
      for (const auto& key : part.taken) {
        auto& count = side.keys[key];
        ++count.seen;
        count.pairs += part.weight;
      }
      side.pairs += part.weight * static_cast<double>(part.taken.size());
    }
  return side;
}

// The hot keys of a join, found once, when its first side is divided.
class FoundHotKeys {
 public:
  using Find = std::function<HotKeys(JobContext& job, std::size_t partitions)>;
  explicit FoundHotKeys(Find find) : find_(std::move(find)) {}

  const HotKeys& find(JobContext& job, std::size_t partitions) {
    if (!keys_) keys_ = partitions > 1 ? find_(job, partitions) : HotKeys();
    return *keys_;
  }
  // REQUIRES find().
  const HotKeys& keys() const {
    ACTORFLOW_CHECK(keys_.has_value(), "asked for before a side was divided");
    return *keys_;
  }

 private:
  const Find find_;
  std::optional<HotKeys> keys_;
};

template <class K, class Left, class Right>
HotKeys find_hot_keys(JobContext& job, const Left& left, const Right& right, std::size_t partitions,
                      const PlanOperator& op) {
  const SideSample of_left = sample_side(job, left, op), of_right = sample_side(job, right, op);
  HotKeys keys = hot_keys_of(of_left, of_right, partitions);
  for (const auto& [hash, hot] : keys.all())
    log_divided_key(op,
                    {key_text(key_from_bytes<K>(std::as_bytes(std::span(hot.key)))),
                     hot.divided == JoinSide::left ? "left" : "right", hot.share, hot.ways, partitions});
  return keys;
}

// Divides the pairs of one side of a join.
template <class K, class V>
class JoinSink {
 public:
  JoinSink(Part& part, std::size_t partitions, const HotKeys& hot, JoinSide side)
      : part_(part),
        partitions_(static_cast<std::uint32_t>(partitions)),
        hot_(hot),
        side_(side),
        turns_(hot.size(), part.index()),
        chunks_(part, partitions) {}

  void operator()(const std::pair<K, V>& record) {
    const auto key = key_bytes(record.first, scratch_);
    const std::uint64_t hash = hash_bytes(key);
    const std::uint32_t own = partition_of(hash, partitions_);
    const HotKey* hot = hot_.find(hash, key);
    if (!hot) [[likely]] {
      heavy_.see(hash, key, encoded_size(record));
      return append(own, record);
    }
    if (hot->divided == side_) return append(own + turns_[hot->number]++ % hot->ways, record);
    for (std::uint32_t i = 0; i < hot->ways; ++i) append(own + std::uint64_t{i}, record);
  }
  void finish() {
    chunks_.finish();
    heavy_.tell(part_, partitions_);
  }

 private:
  void append(std::uint64_t partition, const std::pair<K, V>& record) {
    encode(record, chunks_.append(partition % partitions_, encoded_size(record)));
  }

  Part& part_;
  const std::uint32_t partitions_;
  const HotKeys& hot_;
  const JoinSide side_;
  std::vector<std::uint64_t> turns_;  // by number of the hot key
  ChunkWriter chunks_;
  HeavyKeyOfPart<K> heavy_;  // none of the hot ones, which are divided
  std::vector<std::byte> scratch_;
};

}  // namespace actorflow
