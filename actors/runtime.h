// The threads on which a process's actors run, and its ways to the outside. Tasks of one process may
// share a runtime. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/random.h"
#include "schema/link.h"

namespace caf {
class actor_system;
}

namespace actorflow {

class Scheduler;
class Team;

struct RuntimeOptions {
  int num_threads = 0;        // 0 = one per core
  bool allow_remote = false;  // listen on other than loopback addresses
  // How long the network's thread looks for a further message before it sleeps; see RpcOptions.
  std::int64_t spin_us = 0;
};

class Runtime {
 public:
  explicit Runtime(const RuntimeOptions& options = {});
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  caf::actor_system& system();
  Scheduler& scheduler();
  // Its free threads, for the parts of a kernel.
  Team& team();
  Random& random() { return system_random(); }
  // Cap'n Proto RPC over TCP.
  Network& rpc_network();
  // Between the tasks of this runtime: tensors pass by handle.
  Network& local_network();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
