// Binds a thread to one core, so that a measurement does not depend on where the system puts it.
#pragma once

#include <sched.h>

namespace actorflow::bench {

// Binds the calling thread, and the threads that it starts, for the life of this object to one of the
// cores that the process had at first. Does nothing if there are fewer.
class OnCore {
 public:
  explicit OnCore(int number);
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;
  ~OnCore();

 private:
  cpu_set_t before_;
};

}  // namespace actorflow::bench
