// What the loops of kernels/shuffle/ are measured against: what one writes by hand for the task at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace actorflow::bench {

// A minimal table of counts with open addressing: views of keys that lie elsewhere, a power of two of
// slots, linear probing, doubled when half full. It has no limit of memory, owns no keys and knows no
// order.
class PlainTable {
 public:
  void count(std::uint64_t hash, std::string_view key) {
    std::size_t i = hash & mask_;
    for (; slots_[i].count != 0; i = (i + 1) & mask_)
      if (slots_[i].hash == hash && slots_[i].key == key) {
        ++slots_[i].count;
        return;
      }
    slots_[i] = {hash, key, 1};
    if (++size_ * 2 > slots_.size()) grow();
  }
  std::size_t size() const { return size_; }
  // Calls f(key, count).
  template <class F>
  void for_each(F&& f) const {
    for (const Slot& slot : slots_)
      if (slot.count != 0) f(slot.key, slot.count);
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::string_view key;
    std::int64_t count = 0;
  };

  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.count == 0) continue;
      std::size_t i = slot.hash & mask_;
      while (slots_[i].count != 0) i = (i + 1) & mask_;
      slots_[i] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(8192);
  std::size_t mask_ = slots_.size() - 1;
  std::size_t size_ = 0;
};

}  // namespace actorflow::bench
