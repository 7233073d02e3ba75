#include "kernels/shuffle/group_slots.h"

#include <utility>

#include "dataflow/values/check.h"

namespace actorflow {

GroupSlots::GroupSlots() : memory_(Pages::of(first_bytes)) { start(); }

void GroupSlots::start() {
  lent_ = 0;
  mask_ = num_slots() - 1;
  set_bytes(first_bytes);
}

void GroupSlots::set_bytes(std::size_t bytes) {
  bytes_ = bytes;
  crowded_at_ = bytes / sizeof(Slot) / 8 * 5;
  packed_at_ = bytes / sizeof(Slot) / 8 * 7;
}

void GroupSlots::double_bytes() {
  ACTORFLOW_CHECK(lent_ == 0 && can_double(), "slots:", num_slots());
  if (needs_memory_to_double()) {
    const Pages old = std::exchange(memory_, Pages::of(2 * bytes_));
    mask_ = num_slots() - 1;
    // In sequence, as both halves of the new slots are written.
    for (const Slot& slot : std::span(reinterpret_cast<const Slot*>(old.data()), bytes_ / sizeof(Slot)))
      if (slot.index != 0) slots()[empty_slot(slot.prefix)] = slot;
  }
  set_bytes(2 * bytes_);
}

void GroupSlots::use(std::size_t bytes) {
  memory_.shrink_to(bytes);
  mask_ = num_slots() - 1;
}

void GroupSlots::remove_all(std::size_t slots_to_empty) {
  std::memset(memory_.data(), 0, slots_to_empty * sizeof(Slot));
}

// The first slot stays empty, and a mask of 0 ends each search there.
std::span<GroupSlots::Slot> GroupSlots::lend_empty(std::size_t rows) {
  lent_ = rows + 1;
  mask_ = 0;
  crowded_at_ = packed_at_ = 0;
  return {slots() + 1, rows};
}

}  // namespace actorflow
