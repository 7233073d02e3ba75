// What the actors of a process run on: threads, time, chance and the ways to the outside. The real one
// has threads (threaded_runtime.h); a simulation puts another in its place.
#pragma once

#include <functional>

#include "actors/runtime/clock.h"
#include "actors/runtime/random.h"
#include "actors/runtime/storage.h"

namespace caf {
class actor_system;
}

namespace actorflow {

class Network;
class Team;

// Ends a client's wait. Any thread may.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() = 0;
};

// Tasks of one process may share a runtime. Thread-safe.
class Runtime {
 public:
  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  virtual caf::actor_system& system() = 0;
  // Its free threads, for the parts of a kernel.
  virtual Team& team() = 0;
  virtual Clock& clock() = 0;
  virtual Random& random() = 0;
  // Where its tasks keep checkpoints.
  virtual Storage& storage() = 0;
  // Between processes.
  virtual Network& rpc_network() = 0;
  // Between the tasks of this runtime: tensors pass by handle.
  virtual Network& local_network() = 0;

  // For a client's thread, never for an actor. Calls `begin`, then blocks until the waker is woken, and
  // returns true, or until `end`, calls `give_up` and returns false. Nobody may use the waker later. A
  // simulation throws something that is no std::exception to end the client of a killed task; a destructor
  // that waits must keep it in.
  virtual bool wait_until(Clock::time_point end, const std::function<void(Waker&)>& begin,
                          const std::function<void(Waker&)>& give_up) = 0;
  void wait(const std::function<void(Waker&)>& begin) { wait_until(Clock::never, begin, nobody); }
  void sleep(Clock::time_point::duration duration) {
    wait_until(clock().now() + duration, nobody, nobody);
  }

 private:
  static void nobody(Waker&) {}
};

}  // namespace actorflow
