// Damage of checkpoints, for whoever decides which of them stay. Programs use verify_checkpoint()
// (checkpoint.h).
#pragma once

#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// Whether bytes of the checkpoint are missing or wrong, for good: false, too, if the disk answers with
// an error, which may pass. Reads all of it.
bool is_damaged(Storage& storage, const std::string& manifest_path);

}  // namespace actorflow
