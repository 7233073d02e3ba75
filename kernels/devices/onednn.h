// oneDNN as the CPU kernels use it: one thread per call, scratch memory from the device's pool.
//
// Parallelism comes from the actors, so a primitive runs on the thread that calls it and on no other.
// Its result then depends on its inputs alone: the same bits on any thread, whatever else is running.
// All functions are thread-safe. For .cpp files only: nvcc 13 does not compile dnnl.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <dnnl.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace actorflow {

// The engine. Call this before any other use of oneDNN, which chooses its instructions at its first use:
// the first call hides an AMX that does not work.
const dnnl::engine& onednn_engine();
// Whether oneDNN may use these instructions; its own environment variables can forbid them.
bool onednn_uses(dnnl::cpu_isa instructions);
// The calling thread's stream. Limits OpenMP to one thread for calls from this thread. oneDNN also reads
// that limit when it creates a primitive, so ask for the stream before you create one.
dnnl::stream& onednn_stream();
// Primitive attributes with scratchpad_mode::user. oneDNN's default scratchpad belongs to the thread
// that created the primitive, but actors move between threads.
dnnl::primitive_attr onednn_attributes();
// A memory object whose data is set later: setting a handle is cheaper than making a memory object.
dnnl::memory without_data(const dnnl::memory::desc& layout);

// Throws the Error for an exception of oneDNN: resource_exhausted, unimplemented or internal, naming the
// operation `doing`.
[[noreturn]] void rethrow_onednn_error(const std::string& doing, const dnnl::error& error);

// Idle primitives by shape, with the memory objects that they work on. Each kernel has such a cache:
// creating a primitive costs 60-700 us, a memory object 0.3 us, calling a primitive 0.2 us. A call takes
// a primitive out and puts it back, so that calls on several threads never share one. The cache is
// small: a node sees few shapes, mostly the full batch and the last one, on each thread.
template <class Key, class Primitive>
class PrimitiveCache {
 public:
  // Calls use(primitive) with a primitive for `key`; make() creates it if none is idle.
  template <class Make, class Use>
  void with(const Key& key, Make&& make, Use&& use) {
    auto primitive = take(key);
    if (!primitive) primitive = std::forward<Make>(make)();
    std::forward<Use>(use)(*primitive);
    put_back(key, std::move(primitive));
  }

 private:
  static constexpr std::size_t max_idle = 32;
  using Entry = std::pair<Key, std::unique_ptr<Primitive>>;

  std::unique_ptr<Primitive> take(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(idle_, key, &Entry::first);
    if (found == idle_.end()) return nullptr;
    auto primitive = std::move(found->second);
    idle_.erase(found);
    return primitive;
  }

  // Keeps the primitive for later; destroys the least recently used one if there are too many.
  void put_back(const Key& key, std::unique_ptr<Primitive> primitive) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() == max_idle) idle_.erase(idle_.begin());
    idle_.emplace_back(key, std::move(primitive));
  }

  std::mutex mutex_;
  std::vector<Entry> idle_;
};

}  // namespace actorflow
