// The runtime of a simulated world: its actors are the real ones, its threads, clock, chance and network
// are simulated.
#pragma once

#include <memory>

#include "actors/runtime/runtime.h"
#include "actors/simulation/world/world.h"

namespace actorflow {

// The runtime of all tasks of the world. Not thread-safe.
class SimRuntime : public Runtime {
 public:
  // A kernel takes up to `longest_kernel` of simulated time. REQUIRES: the other arguments outlive this.
  SimRuntime(World& world, Network& network, Storage& storage,
             std::chrono::nanoseconds longest_kernel = std::chrono::microseconds(40),
             const Library& library = builtin_library());
  ~SimRuntime() override;

  caf::actor_system& system() override;
  Team& team() override;
  Clock& clock() override;
  Random& random() override;
  Storage& storage() override { return storage_; }
  const Library& library() const override { return library_; }
  Network& rpc_network() override { return network_; }
  Network& local_network() override { return network_; }
  bool wait_until(Clock::time_point end, const std::function<void(Waker&)>& begin,
                  const std::function<void(Waker&)>& give_up) override {
    return world_.wait_until(end, begin, give_up);
  }

 private:
  struct Impl;
  World& world_;
  Network& network_;
  Storage& storage_;
  const Library& library_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace actorflow
