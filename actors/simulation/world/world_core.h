// The cores of a simulated world, on which pieces of computing run beside each other.
#pragma once

#include "actors/simulation/world/fiber.h"
#include "actors/simulation/world/world.h"

namespace actorflow {

// A fiber that runs one piece at a time, which can be suspended in the middle of its activation. There
// are as many as have ever been needed at once: the actors of a task limit how much it computes at once.
struct World::Core {
  explicit Core(World& world);

  Runnable piece;  // its `actor` is null while the core is idle
  Fiber fiber;
};

}  // namespace actorflow
