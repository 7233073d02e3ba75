// The sign that training is complete, for tasks that come, or come back, when the others have left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// A small file in the folder of the checkpoints. The chief writes it when it needs nobody any more.
void mark_complete(Storage& storage, const std::string& folder, std::int64_t global_step);

// The global step at which training in the folder was complete; nothing if it was not.
std::optional<std::int64_t> completed_step(Storage& storage, const std::string& folder);

// The global step of the newest checkpoint in the folder; nothing if there is none.
std::optional<std::int64_t> latest_step(Storage& storage, const std::string& folder);

// Whether training has reached `last_step` there; false where there is no folder or no last step, and as long as
// the disk does not say.
bool is_complete(Storage& storage, const std::string& folder, std::int64_t last_step);

}  // namespace actorflow
