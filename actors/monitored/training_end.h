// A mark that training is complete, for tasks that start, or restart, when the others have left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// Writes the mark, a small file in the folder of checkpoints. The chief calls it when it needs no other
// task any more.
void mark_complete(Storage& storage, const std::string& folder, std::int64_t global_step);

// The step of the mark, which is greater than that of the newest checkpoint where training was stopped
// before it; nothing if training was not complete.
std::optional<std::int64_t> completed_step(Storage& storage, const std::string& folder);

// The global step of the newest checkpoint in the folder; nothing if there is none.
std::optional<std::int64_t> latest_step(Storage& storage, const std::string& folder);

// Whether training has reached `last_step` in that folder; false without folder or last step, and while
// the disk answers with errors.
bool is_complete(Storage& storage, const std::string& folder, std::int64_t last_step);

}  // namespace actorflow
