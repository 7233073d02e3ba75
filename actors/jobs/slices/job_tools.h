// What the parts of a job, and what brings their input, work with.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "actors/jobs/slices/chunk_store.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// What all parts of a job share.
struct JobTools {
  Storage& storage;
  std::shared_ptr<ChunkStore> chunks;
  std::size_t part_bytes = 0;   // what a part may hold while it runs
  std::size_t chunk_bytes = 0;  // of the chunks that it hands over
  std::shared_ptr<const std::atomic<bool>> stopped;
  // Where chunks lie in files that outlive the job's processes; empty: nowhere.
  std::string work_folder = {};
};

}  // namespace actorflow
