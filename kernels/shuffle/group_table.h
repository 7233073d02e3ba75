// A hash table that groups records by key: the combiner before a shuffle, the reducer behind it.
//
// Rows lie in the order of their insertion and never move; slots (group_slots.h) find them. When the
// table is full follows from max_bytes and the insertions since clear() alone, never from the machine or
// from earlier contents, so that what is drained depends on the input only.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "dataflow/values/check.h"
#include "kernels/shuffle/byte_arena.h"
#include "kernels/shuffle/group_key.h"
#include "kernels/shuffle/group_slots.h"
#include "kernels/shuffle/key_sort.h"
#include "kernels/shuffle/pages.h"
#include "kernels/shuffle/partition_of.h"

namespace actorflow {

// From keys (bytes, with a hash that the caller computes) to values of V, any movable type. REQUIRES of
// all calls: one thread at a time; equal keys come with equal hashes.
template <class V>
class GroupTable {
 public:
  struct Found {
    V* value;       // valid until clear()
    bool inserted;  // then the value is V()
  };
  // A longer key may take the table beyond its limit, by its own size.
  static constexpr std::size_t max_usual_key_bytes = 1024;

  // Reserves address space of `max_bytes`, and takes memory as the table grows.
  explicit GroupTable(std::size_t max_bytes)
      : max_bytes_(max_bytes),
        step_(max_bytes < 16 * Pages::huge_step ? Pages::small_step : Pages::huge_step),
        rows_(max_bytes + 2 * step_, step_),
        long_keys_(step_) {
    static_assert(sizeof(Row) <= Pages::small_step, "values of this size belong behind a pointer");
  }
  ~GroupTable() { destroy_rows(); }
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  // Brings what find_or_insert() begins with into the cache. It pays for tables beyond the cache, called
  // some 16 keys ahead.
  void prefetch(std::uint64_t hash) const { slots_.prefetch(hash); }

  // REQUIRES: !full(), unless the key is known to be there, and no sorted iteration since clear().
  // Throws resource_exhausted if the machine has no memory; the table is as before then.
  Found find_or_insert(std::uint64_t hash, std::span<const std::byte> key_bytes) {
    const GroupKey key(key_bytes);
    const std::size_t row = slots_.find(hash, [&](std::size_t candidate) {
      return rows()[candidate].hash == hash && rows()[candidate].key == key;
    });
    if (row != GroupSlots::none) return {&rows()[row].value, false};
    return {insert(hash, key), true};
  }

  // Whether another key of up to max_usual_key_bytes could take the table beyond max_bytes. Drain it
  // then, and clear it. An empty table is not full, however small its limit.
  bool full() const {
    return size_ > 0 && (bytes_with_another() > max_bytes_ || size_ >= slots_.packed_at());
  }
  std::size_t size() const { return size_; }
  // All memory of the table, but for what values point to.
  std::size_t memory_bytes() const {
    return rows_.usable_bytes() + slots_.memory_bytes() + long_keys_.memory_bytes();
  }

  // Calls f(hash, key, V&) for each row, in the order of insertion.
  template <class F>
  void for_each(F&& f) {
    for (Row& row : std::span(rows(), size_)) f(row.hash, row.key.bytes(), row.value);
  }
  // Calls f(partition, hash, key, V&) for each row: by partition, which is partition_of_hash(hash) and
  // less than `partitions`, and within one in the order of insertion. Then nothing may be inserted until
  // clear().
  template <class PartitionOfHash, class F>
  void for_each_partition(std::uint32_t partitions, PartitionOfHash&& partition_of_hash, F&& f) {
    const std::span<Slot> order = order_by_partition(partitions, partition_of_hash);
    visit_in_order(order, [&](std::uint32_t partition, Row& row) {
      f(partition, row.hash, row.key.bytes(), row.value);
    });
  }
  // Calls f(hash, key, V&) for each row: by hash, and for one hash by key, as GroupKey compares. Then
  // nothing may be inserted until clear().
  template <class F>
  void for_each_by_hash(F&& f) {
    visit_in_order(order_by_hash(),
                   [&](std::uint32_t, Row& row) { f(row.hash, row.key.bytes(), row.value); });
  }

  // Leaves the table as if it were new, but for memory that it keeps. Takes time in proportion to the
  // rows.
  void clear() {
    slots_.clear(size_, hash_of_row());
    destroy_rows();
    size_ = 0;
    long_keys_.clear();
  }

 private:
  using Slot = GroupSlots::Slot;
  struct Row {
    std::uint64_t hash;
    GroupKey key;
    V value;
  };
  Row* rows() const { return reinterpret_cast<Row*>(rows_.data()); }
  auto hash_of_row() const {
    return [rows = rows()](std::size_t row) { return rows[row].hash; };
  }
  std::size_t bytes_of_rows(std::size_t rows) const {
    return (rows * sizeof(Row) + step_ - 1) & ~(step_ - 1);
  }
  // Without what clear() has kept.
  std::size_t bytes_with_another() const {
    return bytes_of_rows(size_ + 1) + slots_.bytes() + long_keys_.used_bytes() +
           long_keys_.growth_for(max_usual_key_bytes);
  }

  V* insert(std::uint64_t hash, GroupKey key) {
    if (size_ >= slots_.crowded_at()) grow_slots();
    if (bytes_of_rows(size_ + 1) > rows_.usable_bytes()) {
      make_room(step_);
      rows_.grow();
    }
    if (!key.held()) key = GroupKey(add_to_arena(key.bytes()));
    Row* row = ::new (rows() + size_) Row{hash, key, V()};
    slots_.add(hash, size_++);
    return &row->value;
  }
  std::span<const std::byte> add_to_arena(std::span<const std::byte> key) {
    if (long_keys_.needs_memory_for(key.size())) make_room(long_keys_.growth_for(key.size()));
    return long_keys_.add(key);
  }
  // Where another `bytes` would go beyond the limit, gives back what only earlier contents needed.
  void make_room(std::size_t bytes) {
    if (memory_bytes() + bytes <= max_bytes_) return;
    rows_.shrink_to(bytes_of_rows(size_ + 1));
    long_keys_.shrink();
    slots_.shrink(size_, hash_of_row());
  }
  // Where the limit forbids it the slots get more crowded instead.
  void grow_slots() {
    ACTORFLOW_CHECK(size_ < slots_.packed_at(), "insertion into a full table of rows:", size_);
    if (bytes_with_another() + slots_.growth() > max_bytes_ || !slots_.can_double())
      return slots_.stay();
    if (slots_.needs_memory_to_double()) make_room(slots_.growth());
    slots_.double_bytes();
  }

  template <class PartitionOfHash>
  std::span<Slot> order_by_partition(std::uint32_t partitions, PartitionOfHash& partition_of_hash) {
    std::vector<std::size_t> places(partitions + std::size_t{1});
    const auto partition_of_row = [&](std::size_t row) {
      const std::uint32_t partition = partition_of_hash(rows()[row].hash);
      ACTORFLOW_CHECK(partition < partitions, "partition", partition, "of", partitions);
      return partition;
    };
    for (std::size_t row = 0; row < size_; ++row) ++places[partition_of_row(row) + 1];
    for (std::size_t partition = 0; partition < partitions; ++partition)
      places[partition + 1] += places[partition];
    const std::span<Slot> order = slots_.lend(size_, hash_of_row());
    for (std::uint32_t row = 0; row < size_; ++row) {
      const std::uint32_t partition = partition_of_row(row);
      order[places[partition]++] = {partition, row};
    }
    return order;
  }
  std::span<Slot> order_by_hash() {
    const std::span<Slot> order = slots_.lend(size_, hash_of_row());
    for (std::uint32_t row = 0; row < size_; ++row)
      order[row] = {static_cast<std::uint32_t>(rows()[row].hash >> 32U), row};
    sort_entries(order, [this](const Slot& a, const Slot& b) {
      const Row &x = rows()[a.index], &y = rows()[b.index];
      return x.hash != y.hash ? x.hash <=> y.hash : x.key <=> y.key;
    });
    return order;
  }

  template <class F>
  void visit_in_order(std::span<const Slot> order, F f) {
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < order.size(); ++i) {
      __builtin_prefetch(rows() + order[std::min(i + ahead, order.size() - 1)].index);
      f(order[i].prefix, rows()[order[i].index]);
    }
  }
  void destroy_rows() {
    if constexpr (!std::is_trivially_destructible_v<V>) std::destroy_n(rows(), size_);
  }

  const std::size_t max_bytes_;
  const std::size_t step_;  // in which memory is taken
  Pages rows_;
  ByteArena long_keys_;
  GroupSlots slots_;
  std::size_t size_ = 0;
};

}  // namespace actorflow
