// Where eager ops run: a device, its threads, and the ops that are known.
#pragma once

#include <memory>
#include <string>

#include "kernels/library/library.h"

namespace actorflow {

class Team;

struct EagerOptions {
  std::string device = "cpu:0";  // or "gpu:0"
  // The program's own ops and optimizers.
  Extensions extensions = {};
  // Threads that share the work of a large kernel, the caller among them; 0 = one per core.
  int num_threads = 0;
};

// Thread-safe: each thread may have tapes in it. Kernels are made once for an op and its attributes.
// REQUIRES: it outlives what was made with it, tapes and optimizers.
class EagerContext {
 public:
  // Throws not_found for a device that is not there, invalid_argument for a name that is none or names a
  // task, resource_exhausted if there are not so many threads, and what Library throws of the
  // extensions.
  explicit EagerContext(const EagerOptions& options = {});
  EagerContext(const EagerContext&) = delete;
  EagerContext& operator=(const EagerContext&) = delete;
  ~EagerContext();

  // That of programs that make none: the CPU, all cores, the built-in ops. It is never destroyed.
  static EagerContext& standard();

  Device& device() const;
  Team& team() const;
  const Library& library() const;
  // Throws unimplemented if the op has none for the device.
  std::shared_ptr<const Kernel> kernel_of(const Node& node);
  // Throws unimplemented unless a node that asks for this device may run here.
  void expect_here(const Node& node) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
