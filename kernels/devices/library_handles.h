// The handles of CUDA's libraries, one per GPU and library.
#pragma once

#include <map>
#include <mutex>

#include "kernels/devices/device.h"

namespace actorflow {

// A handle, null until it is first made, and the mutex of its users: only one thread may use it at a
// time.
template <class Handle>
struct LibraryHandle {
  std::mutex mutex;
  Handle handle = nullptr;
};

// The handle of a GPU. Thread-safe; it lives as long as the process.
template <class Handle>
LibraryHandle<Handle>& library_handle(const Device& device) {
  static std::mutex mutex;
  static auto* handles = new std::map<int, LibraryHandle<Handle>>;  // never erased from
  const std::lock_guard lock(mutex);
  return (*handles)[device.index()];
}

}  // namespace actorflow
