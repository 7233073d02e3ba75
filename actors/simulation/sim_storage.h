// A simulated disk that all tasks of a simulated world share, as a network file system.
#pragma once

#include <string>

#include "actors/runtime/file_storage.h"
#include "actors/simulation/sim_files.h"

namespace actorflow {

// The production storage on simulated files, so that its own code has to keep the promises of storage.h.
class SimStorage final : public FileStorage {
 public:
  explicit SimStorage(World& world) : FileStorage(files_), files_(world) {}

  SimFiles& files() { return files_; }

 private:
  SimFiles files_;
};

}  // namespace actorflow
