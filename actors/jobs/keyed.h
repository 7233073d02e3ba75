// What becomes of the pairs of a partition: values folded by key, grouped, or joined with those of
// others.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/pipes.h"
#include "actors/jobs/record_order.h"
#include "actors/jobs/record_sorter.h"
#include "actors/jobs/runs.h"
#include "kernels/shuffle/group_table.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// One pair for each key of a partition: its values, folded in the order of the parts that gave them.
template <class K, class V, class Fold>
struct ReducePipe {
  using Stored = StoredRecord<V>;
  using Record = std::pair<K, Stored>;
  static constexpr bool is_cheap = false;

  StageNodeRef stage;
  Fold fold;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    GroupTable<Stored> table(part.memory_bytes() / 4 * 3);
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
      return table.for_each([&](std::uint64_t, std::span<const std::byte> key, Stored& value) {
        part.feed([&] { next(Record(key_from_bytes<K>(key), std::move(value))); });
      });
    runs.push_back(put_aside(part, table));
    merge(part, std::move(runs), own, next);
  }
  SourceFacts facts() const { return partitions_of(stage); }
  void describe(PlanStage& plan) const {
    plan.reads.push_back(stage->id());
    plan.operators.push_back(*op);
  }

 private:
  void add(GroupTable<Stored>& table, Fold& own, std::vector<std::byte>& scratch,
           std::pair<K, V>&& record) const {
    const auto key = key_bytes(record.first, scratch);
    const auto found = table.find_or_insert(hash_bytes(key), key);
    if (found.inserted)
      *found.value = stored(record.second);
    else
      *found.value = call_user(*op, own, std::move(*found.value), std::move(record.second));
  }

  static Run put_aside(Part& part, GroupTable<Stored>& table) {
    RunWriter writer(part);
    table.for_each_by_hash([&](std::uint64_t, std::span<const std::byte> bytes, Stored& value) {
      const K key = key_from_bytes<K>(bytes);
      encode(value, encode(key, writer.append(encoded_size(key) + encoded_size(value))));
    });
    table.clear();
    return writer.finish();
  }

  template <class Next>
  void merge(Part& part, std::vector<Run> runs, Fold& own, Next& next) const {
    const HashOrder<K, Stored> order;
    MergedRuns<Record, HashOrder<K, Stored>> merged(part, std::move(runs), order);
    std::optional<std::pair<StoredRecord<K>, Stored>> folded;
    std::uint64_t prefix = 0;
    const auto give = [&] {
      if (folded) part.feed([&] { next(Record(K(folded->first), std::move(folded->second))); });
    };
    while (const Record* record = merged.next()) {
      if (folded && merged.prefix() == prefix &&
          order.compare_keys(K(folded->first), record->first) == 0) {
        folded->second = call_user(*op, own, std::move(folded->second), V(record->second));
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
  void advance() {
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
  std::uint64_t prefix_ = 0;
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
struct GroupPipe {
  using Record = std::decay_t<std::invoke_result_t<F&, const K&, GroupValues<K, V>&>>;
  static constexpr bool is_cheap = false;

  StageNodeRef stage;
  F function;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    F own = function;
    KeyGroups<K, V> groups(part, stage, index, part.memory_bytes() / 4 * 3);
    while (groups.pair()) {
      const StoredRecord<K> key = stored(groups.pair()->first);
      const std::uint64_t prefix = groups.prefix();
      GroupValues<K, V> values(groups, key, prefix);
      part.feed([&] { next(call_user(*op, own, K(key), values)); });
      while (groups.is_at(key, prefix)) groups.advance();  // what the function has left
    }
  }
  SourceFacts facts() const { return partitions_of(stage); }
  void describe(PlanStage& plan) const {
    plan.reads.push_back(stage->id());
    plan.operators.push_back(*op);
  }
};

// Which keys a join gives: those that both sides have, or also those that one of them has.
enum class JoinKind { inner, left, outer };

// The pairs of two sides with equal keys: each value of the left with each of the right. The right
// values of a key are held in memory.
template <class K, class V, class W, JoinKind kind>
struct JoinPipe {
  using SV = StoredRecord<V>;
  using SW = StoredRecord<W>;
  using Left = std::conditional_t<kind == JoinKind::outer, std::optional<SV>, SV>;
  using Right = std::conditional_t<kind == JoinKind::inner, SW, std::optional<SW>>;
  using Record = std::pair<K, std::pair<Left, Right>>;
  static constexpr bool is_cheap = false;

  StageNodeRef left, right;
  OperatorRef op;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    const std::size_t memory = part.memory_bytes() / 8 * 3;
    KeyGroups<K, V> lefts(part, left, index, memory);
    KeyGroups<K, W> rights(part, right, index, memory);
    std::vector<SW> values;
    while (lefts.pair() || (kind == JoinKind::outer && rights.pair())) {
      const bool from_left = lefts.pair() && !before(rights, lefts);
      const StoredRecord<K> key = stored(from_left ? lefts.pair()->first : rights.pair()->first);
      const std::uint64_t prefix = from_left ? lefts.prefix() : rights.prefix();
      take(part, rights, key, prefix, values);
      if (lefts.is_at(key, prefix))
        for (; lefts.is_at(key, prefix); lefts.advance())
          give_all(part, K(key), lefts.pair()->second, values, next);
      else if constexpr (kind == JoinKind::outer)
        for (const SW& value : values) part.feed([&] { next(Record(K(key), {Left(), Right(value)})); });
    }
  }
  SourceFacts facts() const {
    return {[l = left, r = right] {
              l->ensure();
              r->ensure();
            },
            [l = left] { return l->partitions(); },
            [l = left, r = right] { return l->dataset()->bytes() + r->dataset()->bytes(); },
            [l = left, r = right](std::size_t part) {
              return std::vector{l->partition(part), r->partition(part)};
            }};
  }
  void describe(PlanStage& plan) const {
    plan.reads.push_back(left->id());
    plan.reads.push_back(right->id());
    plan.operators.push_back(*op);
  }

 private:
  // Whether the right side has a key that the left one does not have, and that comes before.
  static bool before(const KeyGroups<K, W>& rights, const KeyGroups<K, V>& lefts) {
    if (kind != JoinKind::outer || !rights.pair()) return false;
    if (rights.prefix() != lefts.prefix()) return rights.prefix() < lefts.prefix();
    return HashOrder<K, V>().compare_keys(rights.pair()->first, lefts.pair()->first) < 0;
  }

  // Passes over smaller keys, which the left side does not have.
  void take(Part& part, KeyGroups<K, W>& rights, const StoredRecord<K>& key, std::uint64_t prefix,
            std::vector<SW>& values) const {
    const HashOrder<K, W> order;
    values.clear();
    std::size_t bytes = 0;
    while (rights.pair() &&
           (rights.prefix() < prefix ||
            (rights.prefix() == prefix && order.compare_keys(rights.pair()->first, K(key)) < 0)))
      rights.advance();
    for (; rights.is_at(key, prefix); rights.advance()) {
      values.push_back(stored(rights.pair()->second));
      bytes += sizeof(SW) + encoded_size(rights.pair()->second);
      if (bytes > part.memory_bytes() / 4)
        throw Error(Code::resource_exhausted,
                    op->to_string() + ": the right side has more values of one key than fit into " +
                        std::to_string(part.memory_bytes() / 4) +
                        " bytes; put that side on the left, or give more --memory");
    }
  }

  template <class Next>
  static void give_all(Part& part, const K& key, const V& left, const std::vector<SW>& rights,
                       Next& next) {
    for (const SW& right : rights)
      part.feed([&] { next(Record(key, {Left(stored(left)), Right(right)})); });
    if constexpr (kind != JoinKind::inner)
      if (rights.empty()) part.feed([&] { next(Record(key, {Left(stored(left)), Right()})); });
  }
};

}  // namespace actorflow
