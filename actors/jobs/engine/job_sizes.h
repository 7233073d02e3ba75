// How many parts of a job a task runs at a time, and what each of them may hold.
#pragma once

#include <cstddef>

namespace actorflow {

struct JournaledJob;

struct JobSizes {
  std::size_t slots;        // parts at a time
  std::size_t part_bytes;   // what a part may hold while it runs
  std::size_t chunk_bytes;  // of what it hands over
};

// Half of the memory is for parts at work, half for what they hand over. A job that goes on has the
// sizes with which it has begun, since its chunks depend on them; `begun`: null for one that begins.
// Throws invalid_argument for too little memory.
JobSizes sizes_of_job(std::size_t memory_bytes, std::size_t slots, const JournaledJob* begun);

}  // namespace actorflow
