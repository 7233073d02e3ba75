// Files beside checkpoints that hold one number, as a line of digits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// The number in a file; nothing if there is no such file, or it does not begin with a number. Throws
// what Storage throws.
std::optional<std::int64_t> read_number(Storage& storage, const std::string& path);
// Replaces the file atomically.
void write_number(Storage& storage, const std::string& path, std::int64_t number);

}  // namespace actorflow
