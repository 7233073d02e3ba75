// Skew: keys that have much more than their share of a collection, to be named in the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/jobs/engine/parts/part.h"
#include "dataflow/jobs/plan.h"
#include "kernels/shuffle/partition_of.h"
#include "schema/records/csv_field.h"
#include "schema/records/excerpt.h"
#include "schema/records/key.h"
#include "schema/records/record.h"

namespace actorflow {

// A key as people read it: 'the', 7, ('a', 1).
template <class K>
std::string key_text(const K& key) {
  using detail::RecordKind;
  constexpr RecordKind kind = detail::record_kind<K>();
  std::string text;
  const auto add = [&text](const auto& part) { text += (text.empty() ? "" : ", ") + key_text(part); };
  if constexpr (kind == RecordKind::number) {
    detail::append_csv_value(key, text);
    return text;
  } else if constexpr (kind == RecordKind::text) {
    return "'" + excerpt(key) + "'";
  } else if constexpr (kind == RecordKind::fields) {
    detail::visit_fields(key, [&](const auto&... field) { (add(field), ...); });
  } else if constexpr (kind == RecordKind::optional) {
    if (key) add(*key);
  } else {
    for (const typename K::value_type& element : key) add(element);
  }
  return "(" + text + ")";
}

// The key of a partition that has the most pairs.
class HeaviestKey {
 public:
  template <class K>
  void add(const K& key, std::uint64_t pairs) {
    if (pairs <= pairs_) return;
    pairs_ = pairs;
    if (pairs >= many) key_ = key_text(key);
  }
  // Names the key, if it has most of the pairs of a large partition.
  void log(const PlanOperator& op, const Part& part, std::uint64_t all_pairs) const;

 private:
  static constexpr std::uint64_t many = 1'000'000;

  std::uint64_t pairs_ = 0;
  std::string key_;
};

// Of a sample of keys those that come up most, by the bytes of their pairs: a few counts, all of which
// become less by a key that has none (Misra and Gries, Finding repeated elements, 1982).
class KeyCounts {
 public:
  struct Count {
    std::uint64_t hash = 0;
    std::string key;  // its bytes
    std::uint64_t bytes = 0;
  };
  void add(std::uint64_t hash, std::span<const std::byte> key, std::uint64_t bytes);
  // Null if the sample is small, or if no key has much of it.
  const Count* heaviest() const;

 private:
  static constexpr std::size_t most_counts = 16, most_key_bytes = 4096;
  static constexpr std::uint64_t enough = 64;

  void replace_least(std::uint64_t hash, std::string_view key, std::uint64_t bytes);

  std::vector<Count> counts_;
  std::uint64_t added_ = 0, all_bytes_ = 0;
};

// The key that a part hands over most of, as far as a sample of its pairs tells.
template <class K>
class HeavyKeyOfPart {
 public:
  void see(std::uint64_t hash, std::span<const std::byte> key, std::size_t bytes) {
    if (--until_next_ > 0) [[likely]]
      return;
    until_next_ = stride;
    counts_.add(hash, key, bytes);
  }
  void tell(Part& part, std::uint32_t partitions) const {
    if (const auto* most = counts_.heaviest())
      part.set_heavy_key({partition_of(most->hash, partitions), stride * most->bytes,
                          key_text(key_from_bytes<K>(std::as_bytes(std::span(most->key))))});
  }

 private:
  static constexpr std::uint64_t stride = 61;  // prime: records often repeat after a power of two

  KeyCounts counts_;
  std::uint64_t until_next_ = stride;
};

// Throws invalid_argument: the value of one key alone takes more than a part may.
[[noreturn]] void throw_large_value(const PlanOperator& op, const std::string& key, std::size_t bytes,
                                    std::size_t most_bytes);

// A key whose pairs are divided over several partitions.
struct DividedKey {
  std::string key;
  const char* side;  // "left", "right"
  double share = 0;  // of the pairs of that side
  std::size_t ways = 0, partitions = 0;
};
void log_divided_key(const PlanOperator& op, const DividedKey& divided);

}  // namespace actorflow
