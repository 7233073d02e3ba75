// Several threads for the work of one kernel.
#pragma once

#include <functional>

namespace actorflow {

// Into how many parts a kernel divides its work must follow from the shapes alone, so that the result
// does not depend on the number of threads. Thread-safe.
class Team {
 public:
  virtual ~Team() = default;
  // Calls part(0) to part(parts - 1) once each, on the calling thread and on others that are free, and
  // returns when all are done. Throws what one of them threw; the others may then have been left out.
  virtual void run(int parts, const std::function<void(int)>& part) = 0;
};

}  // namespace actorflow
