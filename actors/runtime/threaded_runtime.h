// The real runtime: actors on threads, networks of sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "actors/runtime/runtime.h"
#include "schema/link_limits.h"

namespace actorflow {

class Scheduler;

// Of this machine, at least 1.
int num_cores();

struct RuntimeOptions {
  int num_threads = 0;  // 0 = one per core
  // The credentials of the network; see RpcOptions.
  std::string credentials = {};
  bool insecure = false;
  // How long the network's thread polls after a message before it sleeps; see RpcOptions.
  std::int64_t spin_us = 0;
  std::size_t max_incoming_bytes = default_max_incoming_bytes;
  std::size_t incoming_budget_bytes = 0;  // see RpcOptions
  std::int64_t full_window_timeout_ms = default_full_window_timeout_ms;
  int max_connections = default_max_connections;
  // False: tensors are sent to processes of this machine as to other machines.
  bool shared_memory = true;
  // The storage for checkpoints; null = real files. Must outlive the runtime.
  Storage* storage = nullptr;
  // The ops and optimizers that tasks know beside the built-in ones.
  Extensions extensions = {};
};

class ThreadedRuntime final : public Runtime {
 public:
  explicit ThreadedRuntime(const RuntimeOptions& options = {});
  ~ThreadedRuntime() override;

  caf::actor_system& system() override;
  Scheduler& scheduler();
  Team& team() override;
  Clock& clock() override { return steady_clock(); }
  Random& random() override { return system_random(); }
  Storage& storage() override;
  const Library& library() const override;
  // Cap'n Proto RPC over TCP.
  Network& rpc_network() override;
  Network& local_network() override;

  // Meanwhile the thread runs the actors that it has woken, so that a small step needs no other thread.
  bool wait_until(Clock::time_point end, const std::function<void(Waker&)>& begin,
                  const std::function<void(Waker&)>& give_up) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
