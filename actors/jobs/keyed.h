// What becomes of the pairs of a partition: values folded by key, or grouped.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/folds.h"
#include "actors/jobs/held_values.h"
#include "actors/jobs/pipes.h"
#include "actors/jobs/record_order.h"
#include "actors/jobs/record_sorter.h"
#include "actors/jobs/runs.h"
#include "actors/jobs/skew.h"
#include "kernels/shuffle/group_table.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// One pair for each key of a partition: its values, folded in the order of the parts that gave them.
template <class K, class V, class Fold>
struct ReducePipe : PartitionsSource {
  using Stored = StoredRecord<V>;
  using Record = std::pair<K, Stored>;
  static constexpr bool is_cheap = false;

  Fold fold;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    ValueTable<Stored> table(part.memory_bytes() / 4 * 3);
    std::vector<Run> runs;
    Fold own = fold;
    std::vector<std::byte> scratch;
    auto slices = SliceReader::of_partition(stage->dataset(), index);
    for (SliceReader::Slice slice; slices.next(slice);) {
      RecordReader reader(slice.bytes);
      for (std::uint64_t i = 0; i < slice.records; ++i) {
        if (table.full()) runs.push_back(put_aside(part, table));
        add(table, own, scratch, decode<std::pair<K, V>>(reader));
      }
      part.has_read(slice.bytes.size(), slice.records);
    }
    if (runs.empty())
      return table.rows().for_each([&](std::uint64_t, std::span<const std::byte> key, Stored& value) {
        part.feed([&] { next(Record(key_from_bytes<K>(key), std::move(value))); });
      });
    runs.push_back(put_aside(part, table));
    merge(part, std::move(runs), own, next);
  }

 private:
  void add(ValueTable<Stored>& table, Fold& own, std::vector<std::byte>& scratch,
           std::pair<K, V>&& record) const {
    const auto key = key_bytes(record.first, scratch);
    table.set(
        hash_bytes(key), key, [&] { return stored(record.second); },
        [&](Stored& value) { fold_value(*op, own, value, std::move(record.second)); });
  }

  static Run put_aside(Part& part, ValueTable<Stored>& table) {
    RunWriter writer(part);
    table.rows().for_each_by_hash([&](std::uint64_t, std::span<const std::byte> bytes, Stored& value) {
      const K key = key_from_bytes<K>(bytes);
      encode(value, encode(key, writer.append(encoded_size(key) + encoded_size(value))));
    });
    table.clear();
    return writer.finish();
  }

  template <class Next>
  void merge(Part& part, std::vector<Run> runs, Fold& own, Next& next) const {
    const HashOrder<K, Stored> order;
    MergedRuns<Record, HashOrder<K, Stored>> merged(
        part, fewer_runs<Record>(part, std::move(runs), order, part.memory_bytes() / 4), order);
    std::optional<std::pair<StoredRecord<K>, Stored>> folded;
    std::uint64_t prefix = 0;
    const auto give = [&] {
      if (folded) part.feed([&] { next(Record(K(folded->first), std::move(folded->second))); });
    };
    while (const Record* record = merged.next()) {
      if (folded && merged.prefix() == prefix &&
          order.compare_keys(K(folded->first), record->first) == 0) {
        fold_value(*op, own, folded->second, V(record->second));
        expect_to_fit(*op, heap_bytes(folded->second), part.memory_bytes());
        continue;
      }
      give();
      prefix = merged.prefix();
      folded.emplace(stored(record->first), record->second);
    }
    give();
  }
};

// The sorted pairs of a partition, key by key. For one thread.
template <class K, class V>
class KeyGroups {
 public:
  using Pair = std::pair<K, V>;
  using Order = HashOrder<K, V>;

  KeyGroups(Part& part, const StageNodeRef& stage, std::size_t index, std::size_t memory_bytes)
      : sorter_(part, memory_bytes, Order()),
        slices_(SliceReader::of_partition(stage->dataset(), index)) {
    for (SliceReader::Slice slice; slices_.next(slice);) {
      sorter_.add(slice);
      part.has_read(slice.bytes.size(), slice.records);
    }
    advance();
  }

  // The next pair; null at the end.
  const Pair* pair() const { return pair_; }
  std::uint64_t prefix() const { return prefix_; }
  // How many pairs were left behind.
  std::uint64_t passed() const { return passed_; }
  void advance() {
    passed_ += pair_ != nullptr;
    pair_ = sorter_.next();
    if (pair_) prefix_ = sorter_.prefix();
  }
  bool is_at(const StoredRecord<K>& key, std::uint64_t prefix) const {
    return pair_ && prefix_ == prefix && sorter_.order().compare_keys(pair_->first, K(key)) == 0;
  }

 private:
  RecordSorter<Pair, Order> sorter_;
  SliceReader slices_;
  const Pair* pair_ = nullptr;
  std::uint64_t prefix_ = 0, passed_ = 0;
};

// The values of one key, in the order of the input: a range that is gone through once.
template <class K, class V>
class GroupValues {
 public:
  GroupValues(KeyGroups<K, V>& groups, const StoredRecord<K>& key, std::uint64_t prefix)
      : groups_(groups), key_(key), prefix_(prefix) {}

  class Iterator {
   public:
    using value_type = V;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const GroupValues* values) : values_(values) {}
    const V& operator*() const { return values_->groups_.pair()->second; }
    Iterator& operator++() {
      values_->groups_.advance();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const {
      return !values_->groups_.is_at(values_->key_, values_->prefix_);
    }

   private:
    const GroupValues* values_ = nullptr;
  };
  Iterator begin() const { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  KeyGroups<K, V>& groups_;
  const StoredRecord<K>& key_;
  const std::uint64_t prefix_;
};

// What a function makes of each key and its values.
template <class K, class V, class F>
struct GroupPipe : PartitionsSource {
  using Record = std::decay_t<std::invoke_result_t<F&, const K&, GroupValues<K, V>&>>;
  static constexpr bool is_cheap = false;

  F function;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    F own = function;
    KeyGroups<K, V> groups(part, stage, index, part.memory_bytes() / 4 * 3);
    HeaviestKey heaviest;
    while (groups.pair()) {
      const StoredRecord<K> key = stored(groups.pair()->first);
      const std::uint64_t prefix = groups.prefix(), before = groups.passed();
      GroupValues<K, V> values(groups, key, prefix);
      part.feed([&] { next(call_user(*op, own, K(key), values)); });
      while (groups.is_at(key, prefix)) groups.advance();  // what the function has left
      heaviest.add(key, groups.passed() - before);
    }
    heaviest.log(*op, part, groups.passed());
  }
};

}  // namespace actorflow
