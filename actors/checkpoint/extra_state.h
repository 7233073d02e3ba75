// Extra state (checkpoint.h) in the files of checkpoints. For actors/ and apps/ only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/checkpoint/checkpoint.h"
#include "actors/runtime/storage.h"
#include "schema/codec/checkpoint_codec.h"

namespace actorflow {

// The names of its tensors in a checkpoint begin with '@', those of variables do not.
inline bool is_extra(std::string_view name_in_checkpoint) { return name_in_checkpoint.starts_with('@'); }

// What a checkpoint has of it. Throws data_loss, naming the file, for bytes that differ from the saved
// ones.
ExtraState read_extra_state(Storage& storage, const std::string& folder, const Manifest& manifest);
// Writes one file of a checkpoint, of that name. Throws what Storage throws.
Manifest write_extra_state(Storage& storage, const std::string& folder, const std::string& name,
                           std::int64_t global_step, const ExtraState& extra);

}  // namespace actorflow
