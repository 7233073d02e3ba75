// The pairs of two collections with equal keys: joined, or given to a function.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "actors/jobs/partitions/keyed.h"
#include "actors/jobs/pipes/stage_pipes.h"
#include "actors/jobs/sinks/hot_keys.h"
#include "actors/jobs/sorting/runs.h"
#include "schema/records/heap_bytes.h"
#include "schema/records/stored_record.h"

namespace actorflow {

// Which keys a join gives: those that both sides have, or also those that the left, or either, has.
enum class JoinKind { inner, left, outer };

// A partition of two sides, key by key. For one thread.
template <class K, class V, class W>
class KeySides {
 public:
  KeySides(Part& part, const StageNodeRef& left, const StageNodeRef& right, std::size_t index)
      : lefts_(part, left, index, part.memory_bytes() / 8 * 3),
        rights_(part, right, index, part.memory_bytes() / 8 * 3) {}

  // Moves to the next key that such a join gives; false at the end.
  bool next(JoinKind kind) {
    do {
      pass_over_key();
      pass_over_alone(kind);
      if (!lefts_.pair() && (!rights_.pair() || kind != JoinKind::outer)) return false;
      if (!rights_.pair() && kind == JoinKind::inner) return false;
      take_key();
    } while (!(has_left() && has_right()) &&
             (kind == JoinKind::inner || (kind == JoinKind::left && !has_left())));
    return true;
  }
  const StoredRecord<K>& key() const { return *key_; }
  std::uint64_t hash() const { return prefix_; }
  // Whether the left side has the key. Valid until one of its values was passed over.
  bool has_left() const { return lefts_.is_at(*key_, prefix_); }
  bool has_right() const { return rights_.is_at(*key_, prefix_); }
  GroupValues<K, V> lefts() { return {lefts_, *key_, prefix_}; }
  GroupValues<K, W> rights() { return {rights_, *key_, prefix_}; }

 private:
  void pass_over_key() {
    if (!key_) return;
    while (has_left()) lefts_.advance();
    while (has_right()) rights_.advance();
  }
  // Passes over keys that only one side has, as far as their hashes tell, which is quick.
  void pass_over_alone(JoinKind kind) {
    if (kind == JoinKind::outer) return;
    while (lefts_.pair() && rights_.pair() && lefts_.prefix() != rights_.prefix()) {
      if (rights_.prefix() < lefts_.prefix())
        rights_.advance();
      else if (kind == JoinKind::inner)
        lefts_.advance();
      else
        return;
    }
  }
  void take_key() {
    const bool from_left = lefts_.pair() && !(rights_.pair() && is_right_first());
    key_ = stored(from_left ? lefts_.pair()->first : rights_.pair()->first);
    prefix_ = from_left ? lefts_.prefix() : rights_.prefix();
  }
  bool is_right_first() const {
    if (rights_.prefix() != lefts_.prefix()) return rights_.prefix() < lefts_.prefix();
    return HashOrder<K, V>().compare_keys(rights_.pair()->first, lefts_.pair()->first) < 0;
  }

  KeyGroups<K, V> lefts_;
  KeyGroups<K, W> rights_;
  std::optional<StoredRecord<K>> key_;
  std::uint64_t prefix_ = 0;
};

// The values of one key, which may be traversed any number of times: in memory up to a limit, the others
// on disk.
template <class W>
class ReplayedValues {
 public:
  using Stored = StoredRecord<W>;

  ReplayedValues(Part& part, std::size_t memory_bytes) : part_(part), memory_bytes_(memory_bytes) {}

  template <class Values>
  void assign(const Values& values) {
    first_.clear();
    rest_ = {};
    size_ = 0;
    std::size_t bytes = 0;
    std::optional<RunWriter> writer;
    for (const W& value : values) {
      ++size_;
      if (!writer && bytes < memory_bytes_) {
        first_.push_back(stored(value));
        bytes += sizeof(Stored) + heap_bytes(first_.back());
      } else {
        if (!writer) writer.emplace(part_);
        encode(value, writer->append(encoded_size(value)));
      }
    }
    if (writer) rest_ = writer->finish();
  }
  bool empty() const { return size_ == 0; }
  std::uint64_t size() const { return size_; }
  // f(value) for each, in their order.
  template <class F>
  void for_each(F f) const {
    for (const Stored& value : first_) f(value);
    if (rest_.blocks.empty()) return;
    for (RunBlocks blocks(part_, rest_); blocks.next();)
      for (RecordReader reader(blocks.bytes()); !reader.empty();) f(decode<Stored>(reader));
  }

 private:
  Part& part_;
  const std::size_t memory_bytes_;
  std::vector<Stored> first_;
  Run rest_;
  std::uint64_t size_ = 0;
};

// The pairs of two sides with equal keys: each value of the left with each of the right, in the order of
// the left ones and for each in that of the right ones.
template <class K, class V, class W, JoinKind kind>
struct JoinPipe : TwoPartitionsSource {
  using SV = StoredRecord<V>;
  using SW = StoredRecord<W>;
  using Left = std::conditional_t<kind == JoinKind::outer, std::optional<SV>, SV>;
  using Right = std::conditional_t<kind == JoinKind::inner, SW, std::optional<SW>>;
  using Record = std::pair<K, std::pair<Left, Right>>;
  static constexpr bool is_cheap = false;

  std::shared_ptr<const FoundHotKeys> hot;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    KeySides<K, V, W> sides(part, left, right, index);
    ReplayedValues<W> rights(part, part.memory_bytes() / 4);
    HeaviestKey heaviest;
    std::uint64_t all = 0;
    while (sides.next(kind)) {
      const K key(sides.key());
      const std::uint64_t before = all;
      const auto divided = divided_side(sides);
      rights.assign(sides.rights());
      if constexpr (kind == JoinKind::outer)
        if (!sides.has_left() && divided != JoinSide::left) give_rights(part, key, rights, next);
      for (const V& value : sides.lefts()) {
        if (!rights.empty())
          give_pairs(part, key, value, rights, next);
        else if (divided != JoinSide::right)
          give_left(part, key, value, next);
        all += rights.size();
      }
      heaviest.add(key, all - before);
    }
    heaviest.log(*op, part, all);
  }

 private:
  // The side whose pairs of this hot key are dealt out over partitions. That side has the key, though
  // maybe not in this partition.
  std::optional<JoinSide> divided_side(const KeySides<K, V, W>& sides) const {
    const HotKeys& keys = hot->keys();
    if (keys.size() == 0) return std::nullopt;
    std::vector<std::byte> scratch;
    const HotKey* found = keys.find(sides.hash(), key_bytes(sides.key(), scratch));
    return found ? std::optional(found->divided) : std::nullopt;
  }
  template <class Next>
  static void give_pairs(Part& part, const K& key, const V& value, const ReplayedValues<W>& rights,
                         Next& next) {
    rights.for_each([&](const SW& right) {
      part.feed([&] { next(Record(key, {Left(stored(value)), Right(right)})); });
    });
  }
  template <class Next>
  static void give_left(Part& part, const K& key, const V& value, Next& next) {
    if constexpr (kind != JoinKind::inner)
      part.feed([&] { next(Record(key, {Left(stored(value)), Right()})); });
  }
  template <class Next>
  static void give_rights(Part& part, const K& key, const ReplayedValues<W>& rights, Next& next) {
    rights.for_each([&](const SW& right) {
      part.feed([&] { next(Record(key, {Left(), Right(right)})); });
    });
  }
};

// What a function makes of each key and its values on both sides.
template <class K, class V, class W, class F>
struct CoGroupPipe : TwoPartitionsSource {
  using Record =
      std::decay_t<std::invoke_result_t<F&, const K&, GroupValues<K, V>&, GroupValues<K, W>&>>;
  static constexpr bool is_cheap = false;

  F function;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    F own = function;
    KeySides<K, V, W> sides(part, left, right, index);
    while (sides.next(JoinKind::outer)) {
      auto lefts = sides.lefts();
      auto rights = sides.rights();
      part.feed([&] { next(call_user(*op, own, K(sides.key()), lefts, rights)); });
    }
  }
};

// The pairs of the left side, in their order, whose key the right side has, or those whose key it has
// not.
template <class K, class V, class W, bool wanted>
struct MatchPipe : TwoPartitionsSource {
  using Record = std::pair<K, StoredRecord<V>>;
  static constexpr bool is_cheap = false;

  template <class Next>
  void run(Part& part, std::size_t index, Next&& next) const {
    KeySides<K, V, W> sides(part, left, right, index);
    while (sides.next(wanted ? JoinKind::inner : JoinKind::left)) {
      if (sides.has_right() != wanted) continue;
      const K key(sides.key());
      for (const V& value : sides.lefts()) part.feed([&] { next(Record(key, stored(value))); });
    }
  }
};

}  // namespace actorflow
