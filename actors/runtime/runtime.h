// The runtime of a process's actors: threads, time, randomness, storage and networks. The real one has
// threads (threaded_runtime.h); a simulation has its own.
#pragma once

#include <functional>

#include "actors/runtime/clock.h"
#include "actors/runtime/random.h"
#include "actors/runtime/storage.h"
#include "kernels/library/library.h"

namespace caf {
class actor_system;
}

namespace actorflow {

class Network;
class Team;

// Ends a client's wait, from any thread.
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
  // The free threads, for the parts of a kernel.
  virtual Team& team() = 0;
  virtual Clock& clock() = 0;
  virtual Random& random() = 0;
  // The storage for checkpoints of its tasks.
  virtual Storage& storage() = 0;
  // The ops and optimizers that its tasks know.
  virtual const Library& library() const { return builtin_library(); }
  // The network between processes.
  virtual Network& rpc_network() = 0;
  // The network between the tasks of this runtime, which passes tensors by handle.
  virtual Network& local_network() = 0;

  // For a client's thread, never for an actor. Calls `begin`, then blocks. Returns true when the waker
  // is woken; at `end` calls `give_up` and returns false. The waker must not be used afterwards. A
  // simulation ends the client of a killed task by throwing something that is no std::exception; a
  // destructor that waits must catch it.
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
