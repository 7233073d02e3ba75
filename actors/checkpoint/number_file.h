// A number in a file of its own, beside checkpoints: a line of digits, for people too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// Nothing if there is no such file, or it does not begin with a number. Throws what Storage throws.
std::optional<std::int64_t> read_number(Storage& storage, const std::string& path);
// In the place of what was there, at once.
void write_number(Storage& storage, const std::string& path, std::int64_t number);

}  // namespace actorflow
