// Skew: keys that have much more than their share of a collection, to be named in the log.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "actors/jobs/engine/part.h"
#include "dataflow/jobs/plan.h"
#include "schema/records/csv_field.h"
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
    return "'" + std::string(key.substr(0, 80)) + (key.size() > 80 ? "'..." : "'");
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

// A key whose pairs are divided over several partitions.
struct DividedKey {
  std::string key;
  const char* side;  // "left", "right"
  double share = 0;  // of the pairs of that side
  std::size_t ways = 0, partitions = 0;
};
void log_divided_key(const PlanOperator& op, const DividedKey& divided);

}  // namespace actorflow
