#include "kernels/devices/memory_holders.h"

#include <algorithm>
#include <map>

namespace actorflow {

void MemoryHolders::add(MemoryHolder& holder) {
  const std::lock_guard lock(mutex_);
  holders_.push_back(&holder);
}

void MemoryHolders::remove(MemoryHolder& holder) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(holders_, &holder);
}

bool MemoryHolders::give_back_one() noexcept {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(holders_, [](MemoryHolder* holder) { return holder->give_back(); });
}

MemoryHolders& memory_holders(int gpu) {
  static std::mutex mutex;
  static auto* holders = new std::map<int, MemoryHolders>;  // never erased from
  const std::lock_guard lock(mutex);
  return (*holders)[gpu];
}

}  // namespace actorflow
