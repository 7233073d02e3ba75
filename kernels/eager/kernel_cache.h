// Kernels of eager nodes, made once for an op and its attributes.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "kernels/core/kernel.h"

namespace actorflow {

// Thread-safe.
class KernelCache {
 public:
  // REQUIRES: `ops` outlives the cache.
  KernelCache(const OpLibrary& ops, DeviceType device) : ops_(ops), device_(device) {}

  // Throws unimplemented, naming the node, if there is none.
  std::shared_ptr<const Kernel> of(const Node& node);

 private:
  struct Variant {
    Attrs attrs;
    std::size_t outputs;
    std::shared_ptr<const Kernel> kernel;
  };
  // An op whose attributes are different each time, such as a slice that moves, is not kept more often.
  static constexpr std::size_t most_variants = 32;

  const OpLibrary& ops_;
  const DeviceType device_;
  std::mutex mutex_;
  std::unordered_map<const OpDef*, std::vector<Variant>> kernels_;
};

}  // namespace actorflow
