// The pairs of a partition: values folded by key, or grouped.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/pipes/stage_pipes.h"
#include "actors/jobs/sinks/folds.h"
#include "actors/jobs/sinks/held_values.h"
#include "actors/jobs/sinks/skew.h"
#include "actors/jobs/sorting/record_order.h"
#include "actors/jobs/sorting/record_sorter.h"
#include "actors/jobs/sorting/runs.h"
#include "kernels/shuffle/group_table.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// The sorted pairs of a partition, key by key. For one thread.
template <class K, class V>
class KeyGroups {
 public:
  using Pair = std::pair<K, V>;
  using Order = HashOrder<K, V>;

  KeyGroups(Part& part, const StageNodeRef& stage, std::size_t index, std::size_t memory_bytes)
      : sorter_(part, memory_bytes, Order()),
        slices_(SliceReader::of_partition(stage->dataset(), index)) {
    add_slices(part);
  }
  // The groups of what is left: `first`, then the slices that follow.
  KeyGroups(Part& part, const SliceReader::Slice& first, SliceReader slices, std::size_t memory_bytes)
      : sorter_(part, memory_bytes, Order()), slices_(std::move(slices)) {
    add(part, first);
    add_slices(part);
  }

  // The next pair; null at the end.
  const Pair* pair() const { return pair_; }
  std::uint64_t prefix() const { return prefix_; }
  // The number of pairs that were passed.
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
  void add(Part& part, const SliceReader::Slice& slice) {
    sorter_.add(slice);
    part.has_read(slice.bytes.size(), slice.records);
  }
  void add_slices(Part& part) {
    for (SliceReader::Slice slice; slices_.next(slice);) add(part, slice);
    advance();
  }

  RecordSorter<Pair, Order> sorter_;
  SliceReader slices_;
  const Pair* pair_ = nullptr;
  std::uint64_t prefix_ = 0, passed_ = 0;
};

// One pair for each key of a partition, by the hash of the key: its values, folded in the order of the
// parts that gave them, one after the other. What does not fit into memory any more is sorted and then
// folded, so that the result is the same to the last bit, and in the same order, for any memory.
template <class K, class V, class Fold>
struct ReducePipe : PartitionsSource {
  using Stored = StoredRecord<V>;
  using Record = std::pair<K, Stored>;
  static constexpr bool is_cheap = false;

  Fold fold;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    std::optional<ValueTable<Stored>> table(part.memory_bytes() / 4 * 3);
    Fold own = fold;
    auto slices = SliceReader::of_partition(stage->dataset(), index);
    for (SliceReader::Slice slice; slices.next(slice);) {
      if (fold_slice(part, *table, own, slice)) continue;
      const Run early = put_aside(part, *table);
      table.reset();
      KeyGroups<K, V> late(part, slice, std::move(slices), part.memory_bytes() / 4 * 3);
      return merge(part, early, late, own, next);
    }
    table->rows().for_each_by_hash([&](std::uint64_t, std::span<const std::byte> key, Stored& value) {
      part.feed([&] { next(Record(key_from_bytes<K>(key), std::move(value))); });
    });
  }

 private:
  using Order = HashOrder<K, Stored>;

  // Folds a slice into the table. False if the table is full: the rest of the slice is not folded then.
  bool fold_slice(Part& part, ValueTable<Stored>& table, Fold& own, SliceReader::Slice& slice) const {
    std::vector<std::byte> scratch;
    RecordReader reader(slice.bytes);
    std::uint64_t folded = 0;
    for (; folded < slice.records && !table.full(); ++folded) {
      auto record = decode<std::pair<K, V>>(reader);
      const auto key = key_bytes(record.first, scratch);
      table.set(
          hash_bytes(key), key, [&] { return stored(record.second); },
          [&](Stored& value) { fold_value(*op, own, value, std::move(record.second)); });
    }
    const auto bytes = static_cast<std::size_t>(reader.at - reader.begin);
    part.has_read(bytes, folded);
    slice.bytes = slice.bytes.subspan(bytes);
    slice.records -= folded;
    return slice.records == 0;
  }

  static Run put_aside(Part& part, ValueTable<Stored>& table) {
    RunWriter writer(part);
    table.rows().for_each_by_hash([&](std::uint64_t, std::span<const std::byte> bytes, Stored& value) {
      const K key = key_from_bytes<K>(bytes);
      encode(value, encode(key, writer.append(encoded_size(key) + encoded_size(value))));
    });
    return writer.finish();
  }

  // `early`: for each key what its first values were folded into; `late`: the values that came then.
  template <class Next>
  void merge(Part& part, const Run& early, KeyGroups<K, V>& late, Fold& own, Next& next) const {
    const Order order;
    ReadRun<Record, Order> folded(part, early, order);
    while (!folded.done() || late.pair()) {
      const bool is_new = folded.done() || is_before(late, folded, order);
      const StoredRecord<K> key = stored(is_new ? late.pair()->first : folded.value().first);
      const std::uint64_t prefix = is_new ? late.prefix() : folded.prefix();
      Stored value = is_new ? stored(late.pair()->second) : folded.value().second;
      is_new ? late.advance() : folded.advance();
      for (; late.is_at(key, prefix); late.advance()) {
        fold_value(*op, own, value, V(late.pair()->second));
        if (const std::size_t bytes = heap_bytes(value); bytes > part.memory_bytes())
          throw_large_value(*op, key_text(key), bytes, part.memory_bytes());
      }
      part.feed([&] { next(Record(K(key), std::move(value))); });
    }
  }
  static bool is_before(const KeyGroups<K, V>& late, const ReadRun<Record, Order>& folded,
                        const Order& order) {
    if (!late.pair() || late.prefix() != folded.prefix())
      return late.pair() && late.prefix() < folded.prefix();
    return order.compare_keys(late.pair()->first, folded.value().first) < 0;
  }
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
