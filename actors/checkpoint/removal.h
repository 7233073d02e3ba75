// Removing checkpoints from a folder. For this folder only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"

namespace actorflow {

// What goes from a folder when the chief of this epoch has published a checkpoint: older ones, as `keep`
// says, damaged ones of later steps, and the leftovers of crashes and of the step's earlier version;
// nothing of a newer epoch. Throws what Storage throws.
void remove_others(Storage& storage, const std::string& folder, const Manifest& saved,
                   const KeepOptions& keep, std::int64_t epoch);

// Removes files by their names in the folder. A manifest goes before its files, and for good: what
// remains is a checkpoint or no checkpoint.
void remove_in_turn(Storage& storage, const std::string& folder,
                    const std::vector<std::string>& manifests, const std::vector<std::string>& files);

// Whether the file is one of that checkpoint's.
bool has_file(const Manifest& manifest, const std::string& file);

}  // namespace actorflow
