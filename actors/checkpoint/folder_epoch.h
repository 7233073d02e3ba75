// The fencing epoch of a folder of checkpoints: the epoch of the chief that saves there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/runtime/storage.h"

namespace actorflow {

// The folder's epoch, 0 until it is raised; never less than that of a file in it, should somebody remove
// the one that says it. Throws data_loss if its file is damaged, and what Storage
// throws.
std::int64_t folder_epoch(Storage& storage, const std::string& folder);
// The same where the names of the folder's files are known.
std::int64_t folder_epoch(Storage& storage, const std::string& folder,
                          const std::vector<std::string>& names);
// Raises the epoch: from now on chiefs of an older epoch cannot save there. Throws what Storage throws.
void raise_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch);
// Throws aborted if the folder's epoch is newer, and what folder_epoch() throws. Epoch 0, which belongs
// to no chief, always passes.
void check_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch);
void check_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch,
                        const std::vector<std::string>& names);

}  // namespace actorflow
