// Values by key, with the memory that they hold besides themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "kernels/shuffle/group_table.h"
#include "schema/records/heap_bytes.h"

namespace actorflow {

// A GroupTable that is also full when its values hold too much memory. When that is depends only on what
// was set since clear().
template <class V>
class ValueTable {
 public:
  explicit ValueTable(std::size_t max_bytes)
      : rows_(has_heap<V> ? max_bytes / 2 : max_bytes), most_held_(max_bytes / 2) {}

  // Sets the value of a new key to first(); changes the value of a known key by fold(value). REQUIRES:
  // !full().
  template <class First, class Fold>
  void set(std::uint64_t hash, std::span<const std::byte> key, First first, Fold fold) {
    const auto found = rows_.find_or_insert(hash, key);
    if (found.inserted) {
      *found.value = first();
    } else {
      held_ -= heap_bytes(*found.value);
      fold(*found.value);
    }
    held_ += heap_bytes(*found.value);
  }
  bool full() const { return rows_.full() || held_ > most_held_; }
  GroupTable<V>& rows() { return rows_; }
  void clear() {
    rows_.clear();
    held_ = 0;
  }

 private:
  GroupTable<V> rows_;
  const std::size_t most_held_;
  std::size_t held_ = 0;
};

}  // namespace actorflow
