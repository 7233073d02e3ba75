// Holders of a device's memory that can do without it, such as CUDA graphs: when the device's pool has
// no more, they give it back, so that no step fails for what only makes others faster.
#pragma once

#include <list>
#include <mutex>

namespace actorflow {

// Called by any thread that lacks memory, with the list locked: must neither allocate memory of the
// device nor wait for a lock that a thread may hold while it does.
class MemoryHolder {
 public:
  virtual ~MemoryHolder() = default;
  // Releases to the pool what it holds, for good. False if it holds nothing, or needs it just now.
  virtual bool give_back() noexcept = 0;
};

// Thread-safe.
class MemoryHolders {
 public:
  void add(MemoryHolder& holder);
  // When this returns, nobody calls the holder or will. Whoever is not on the list may be removed, too.
  void remove(MemoryHolder& holder) noexcept;
  // Asks one after the other, the earliest first, until one has given something back; false if none has.
  bool give_back_one() noexcept;

 private:
  std::mutex mutex_;
  std::list<MemoryHolder*> holders_;
};

// Those of a GPU, for as long as the process lives.
MemoryHolders& memory_holders(int gpu);

}  // namespace actorflow
