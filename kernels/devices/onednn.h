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

// oneDNN fixes with its first use which instructions it takes: every use comes after the first call of
// this, which keeps it from an AMX that does not work.
const dnnl::engine& onednn_engine();
// May oneDNN use AMX? Environment variables of its own can forbid it.
bool onednn_uses_amx();
// The calling thread's stream. Limits OpenMP to one thread on this thread, which oneDNN also reads when
// it creates a primitive: ask for the stream before you create one.
dnnl::stream& onednn_stream();
// Primitive attributes with scratchpad_mode::user. oneDNN's default scratchpad belongs to the thread
// that created the primitive, but actors move between threads.
dnnl::primitive_attr onednn_attributes();
// To be given data when it is known: a handle is cheaper to set than a memory object to make.
dnnl::memory without_data(const dnnl::memory::desc& layout);

// Throws the Error for an exception of oneDNN: resource_exhausted, unimplemented or internal, naming
// what was being done.
[[noreturn]] void rethrow_onednn_error(const std::string& doing, const dnnl::error& error);

// Idle primitives by shape, with the memory objects that they work on. A kernel keeps one of these:
// creating a primitive costs 60-700 us, a memory object 0.3 us, calling a primitive 0.2 us. A call takes
// a primitive for itself and puts it back, so that calls on several threads never share one. It keeps
// few: a node sees few shapes, mostly the full batch and the last one, on as many threads as there are.
template <class Key, class Primitive>
class PrimitiveCache {
 public:
  // Runs `use(primitive)` with one for `key`; `make()` builds it if none is idle.
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

  // The least recently used one leaves when there are too many.
  void put_back(const Key& key, std::unique_ptr<Primitive> primitive) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() == max_idle) idle_.erase(idle_.begin());
    idle_.emplace_back(key, std::move(primitive));
  }

  std::mutex mutex_;
  std::vector<Entry> idle_;
};

}  // namespace actorflow
