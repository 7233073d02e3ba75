// How a GroupTable finds its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/shuffle/pages.h"

namespace actorflow {

// Open addressing with linear probing, over slots of 8 bytes: the lower half of a hash and the index of
// its row. The half is enough to move a slot when the slots double, which so reads no rows, and to pass
// over most others.
//
// bytes() follows from the rows since clear(); the memory may be more, which clear() kept. REQUIRES of
// all calls: one thread at a time; hash_of_row(index) gives the hash of a row that was added.
class GroupSlots {
 public:
  // While rows are visited in an order: an entry of that order.
  struct Slot {
    std::uint32_t prefix;
    std::uint32_t index;  // of the row plus 1, or 0: no row
  };
  static constexpr std::size_t none = ~std::size_t{0};

  GroupSlots();

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(slots() + (hash & mask_), 1); }
  // The row of that hash for which is_row(index) is true, or none.
  template <class IsRow>
  std::size_t find(std::uint64_t hash, IsRow is_row) const {
    for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
      const Slot slot = slots()[i];
      if (slot.index == 0) return none;
      if (slot.prefix == static_cast<std::uint32_t>(hash) && is_row(slot.index - std::size_t{1}))
        return slot.index - std::size_t{1};
    }
  }
  // REQUIRES: fewer than packed_at() rows, and that it is not there.
  void add(std::uint64_t hash, std::size_t row) {
    slots()[empty_slot(hash)] = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(row + 1)};
  }

  // What a new table of these rows would have.
  std::size_t bytes() const { return bytes_; }
  std::size_t memory_bytes() const { return memory_.usable_bytes(); }
  // The rows with which it is time to grow, if there is memory for that, and those with which it is full
  // otherwise.
  std::size_t crowded_at() const { return crowded_at_; }
  std::size_t packed_at() const { return packed_at_; }
  // What the memory may grow by for a moment when bytes() doubles.
  std::size_t growth() const { return 2 * bytes_; }
  bool can_double() const { return bytes_ < most_bytes; }
  bool needs_memory_to_double() const { return memory_bytes() < 2 * bytes_; }
  // Throws resource_exhausted if there is no memory, and has changed nothing then.
  void double_bytes();
  // From now on packed_at() rows will have to do.
  void stay() { crowded_at_ = packed_at_; }
  // Gives back what clear() has kept.
  template <class HashOfRow>
  void shrink(std::size_t rows, HashOfRow hash_of_row) {
    if (memory_bytes() == bytes_) return;
    remove(rows, hash_of_row);
    use(bytes_);
    for (std::size_t row = 0; row < rows; ++row) add(hash_of_row(row), row);
  }

  // Space for an order of the rows in the place of the slots. Nothing is found until clear(), and
  // packed_at() is 0.
  template <class HashOfRow>
  std::span<Slot> lend(std::size_t rows, HashOfRow hash_of_row) {
    remove(rows, hash_of_row);
    return lend_empty(rows);
  }
  // As if new. Takes time in proportion to the rows.
  template <class HashOfRow>
  void clear(std::size_t rows, HashOfRow hash_of_row) {
    remove(rows, hash_of_row);
    start();
  }

 private:
  static constexpr std::size_t first_bytes = Pages::small_step, most_bytes = sizeof(Slot) << 32U;

  Slot* slots() const { return reinterpret_cast<Slot*>(memory_.data()); }
  std::size_t num_slots() const { return memory_bytes() / sizeof(Slot); }
  std::size_t empty_slot(std::uint64_t hash) const {
    std::size_t i = hash & mask_;
    while (slots()[i].index != 0) i = (i + 1) & mask_;
    return i;
  }
  void start();
  void set_bytes(std::size_t bytes);
  void use(std::size_t bytes);
  void remove_all(std::size_t slots);
  std::span<Slot> lend_empty(std::size_t rows);

  // Empties the slots of the rows: each from where its row belongs to the next empty one. Or all, if
  // most are used.
  template <class HashOfRow>
  void remove(std::size_t rows, HashOfRow hash_of_row) {
    if (lent_ > 0) return remove_all(lent_);
    if (rows > num_slots() / 8) return remove_all(num_slots());
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = hash_of_row(row) & mask_; slots()[i].index != 0; i = (i + 1) & mask_)
        slots()[i] = {};
  }

  Pages memory_;
  std::size_t mask_ = 0;  // of all slots in the memory
  std::size_t bytes_ = 0;
  std::size_t crowded_at_ = 0, packed_at_ = 0;
  std::size_t lent_ = 0;  // slots from the first on that hold an order
};

}  // namespace actorflow
