// The pairs of a partition key by key: grouped, or folded as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

#include "actors/jobs/pipes/stage_pipes.h"
#include "actors/jobs/pipes/step_groups.h"
#include "actors/jobs/sinks/folds.h"
#include "actors/jobs/sinks/skew.h"
#include "actors/jobs/sorting/record_order.h"
#include "actors/jobs/sorting/record_sorter.h"
#include "schema/records/heap_bytes.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// The sorted pairs of a partition, key by key. For one thread. The order is HashOrder, or one that goes
// on where HashOrder finds keys equal.
template <class K, class V, class Order = HashOrder<K, V>>
class KeyGroups {
 public:
  using Pair = std::pair<K, V>;
  using Key = K;
  using Value = V;

  KeyGroups(Part& part, const StageNodeRef& stage, std::size_t index, std::size_t memory_bytes,
            Order order = {})
      : part_(part),
        sorter_(part, memory_bytes, std::move(order)),
        slices_(SliceReader::of_partition(stage->dataset(), index)) {
    add_slices();
  }
  // The groups of what is left: `first`, then the slices that follow.
  KeyGroups(Part& part, const SliceReader::Slice& first, SliceReader slices, std::size_t memory_bytes)
      : part_(part), sorter_(part, memory_bytes, Order()), slices_(std::move(slices)) {
    add(first);
    add_slices();
  }

  // The next pair; null at the end.
  const Pair* pair() const { return pair_; }
  const K* key() const { return pair_ ? &pair_->first : nullptr; }
  const V& value() const { return pair_->second; }
  std::uint64_t prefix() const { return prefix_; }
  // The number of pairs that were passed.
  std::uint64_t passed() const { return passed_; }
  // Now and then looks whether the attempt is still wanted: a key may have any number of pairs.
  void advance() {
    if (pair_ && ++passed_ % pairs_per_look == 0) part_.expect_wanted();
    pair_ = sorter_.next();
    if (pair_) prefix_ = sorter_.prefix();
  }
  bool is_at(const StoredRecord<K>& key, std::uint64_t prefix) const {
    if (!pair_ || prefix_ != prefix) return false;
    if constexpr (std::is_same_v<K, StoredRecord<K>>)
      return sorter_.order().compare_keys(pair_->first, key) == 0;
    else
      return sorter_.order().compare_keys(pair_->first, K(key)) == 0;
  }
  void pass(const StoredRecord<K>& key, std::uint64_t prefix) {
    while (is_at(key, prefix)) advance();
  }

 private:
  static constexpr std::uint64_t pairs_per_look = 4096;

  void add(const SliceReader::Slice& slice) {
    sorter_.add(slice);
    part_.has_read(slice.bytes.size(), slice.records);
  }
  void add_slices() {
    for (SliceReader::Slice slice; slices_.next(slice);) add(slice);
    advance();
  }

  Part& part_;
  RecordSorter<Pair, Order> sorter_;
  SliceReader slices_;
  const Pair* pair_ = nullptr;
  std::uint64_t prefix_ = 0, passed_ = 0;
};

// The values of one key, in their order: a range that is gone through once.
template <class K, class V, class Groups = KeyGroups<K, V>>
class GroupValues {
 public:
  GroupValues(Groups& groups, const StoredRecord<K>& key, std::uint64_t prefix)
      : groups_(groups), key_(key), prefix_(prefix) {}

  class Iterator {
   public:
    using value_type = V;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const GroupValues* values) : values_(values) {}
    const V& operator*() const { return values_->groups_.value(); }
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
  Groups& groups_;
  const StoredRecord<K>& key_;
  const std::uint64_t prefix_;
};

// Calls give(key, prefix) for each key that has a value, as a record of the part: what it throws leaves
// out that key. Names a key with most of the pairs.
template <class Groups, class Give>
void feed_groups(Part& part, const PlanOperator& op, Groups& groups, const Give& give) {
  HeaviestKey heaviest;
  while (groups.key()) {
    const StoredRecord<typename Groups::Key> key = stored(*groups.key());
    const std::uint64_t prefix = groups.prefix(), before = groups.passed();
    part.feed([&] {
      if (groups.is_at(key, prefix)) give(key, prefix);
    });
    groups.pass(key, prefix);
    heaviest.add(key, groups.passed() - before);
  }
  heaviest.log(op, part, groups.passed());
}

// The pairs of a partition, those of a key in the order of the input.
template <class K, class V>
struct HashedPipe : PartitionsSource {
  using Record = std::pair<K, V>;
  static constexpr bool is_cheap = false;

  auto groups(Part& part, std::size_t index) const {
    return KeyGroups<K, V>(part, stage, index, part.memory_bytes() / 4 * 3);
  }
  // The operator that reads it says what it is.
  void describe(PlanStage& plan) const { plan.reads.push_back(stage->id()); }
};

// What pipes have in common that read the groups of another.
template <class Before>
struct GroupsReader {
  using Groups = decltype(std::declval<const Before&>().groups(std::declval<Part&>(), 0));
  using Key = typename Groups::Key;
  using Value = typename Groups::Value;
  static constexpr bool is_cheap = false;

  Before before;
  OperatorRef op;

  SourceFacts facts() const { return before.facts(); }
  void describe(PlanStage& plan) const {
    before.describe(plan);
    plan.operators.push_back(*op);
  }
};

// What a function makes of each key and its values.
template <class Before, class F>
struct GroupPipe : GroupsReader<Before> {
  using Reader = GroupsReader<Before>;
  using Key = typename Reader::Key;
  using Values = GroupValues<Key, typename Reader::Value, typename Reader::Groups>;
  using Record = std::decay_t<std::invoke_result_t<F&, const Key&, Values&>>;

  F function;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    F own = function;
    auto groups = this->before.groups(part, index);
    feed_groups(part, *this->op, groups, [&](const StoredRecord<Key>& key, std::uint64_t prefix) {
      Values values(groups, key, prefix);
      next(call_user(*this->op, own, Key(key), values));
    });
  }
};

// One pair for each key: its values, folded in their order. The first becomes a state, begin(value);
// others are folded into it by add.
template <class Before, class State, class Begin, class Add>
struct FoldGroupsPipe : GroupsReader<Before> {
  using Reader = GroupsReader<Before>;
  using Key = typename Reader::Key;
  using Value = typename Reader::Value;
  using Record = std::pair<Key, State>;

  Begin begin;
  Add add;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    Begin own_begin = begin;
    Add own_add = add;
    auto groups = this->before.groups(part, index);
    feed_groups(part, *this->op, groups, [&](const StoredRecord<Key>& key, std::uint64_t prefix) {
      State state = call_user(*this->op, own_begin, Value(groups.value()));
      for (groups.advance(); groups.is_at(key, prefix); groups.advance()) {
        fold_value(*this->op, own_add, state, Value(groups.value()));
        if (const std::size_t bytes = heap_bytes(state); bytes > part.memory_bytes())
          throw_large_value(*this->op, key_text(key), bytes, part.memory_bytes());
      }
      next(Record(Key(key), std::move(state)));
    });
  }
};

}  // namespace actorflow
