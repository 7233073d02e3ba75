// The fencing epoch of a folder of checkpoints: that of the chief who saves there.
#pragma once

#include <cstdint>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// 0 as long as nobody has raised it.
std::int64_t folder_epoch(Storage& storage, const std::string& folder);
// From now on who belongs to an older epoch no longer saves there. Throws what Storage throws.
void raise_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch);
// Throws aborted if the folder's epoch is newer. Epoch 0 belongs to no chief, and may.
void check_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch);

}  // namespace actorflow
