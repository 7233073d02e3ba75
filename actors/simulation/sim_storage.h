// A simulated disk that all tasks of a simulated world share, as they would a network file system.
#pragma once

#include <string>

#include "actors/runtime/file_storage.h"
#include "actors/simulation/sim_files.h"

namespace actorflow {

// The storage of production on simulated files: it keeps the promises of storage.h, or not, by itself.
class SimStorage final : public FileStorage {
 public:
  explicit SimStorage(World& world) : FileStorage(files_), files_(world) {}

  SimFiles& files() { return files_; }

 private:
  SimFiles files_;
};

}  // namespace actorflow
