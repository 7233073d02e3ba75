// Restoring from a folder in which others may save meanwhile. For actors/ only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/runtime/storage.h"

namespace actorflow {

// Calls `restore_from` with the path of the newest checkpoint, and with those of older ones while they
// are damaged; returns the step that it returns, or nothing if there is no checkpoint. One that is
// removed meanwhile is passed over: a newer one has taken its place. Newer damaged ones are logged, or
// with `strict` thrown; if none is whole, throws the error of the newest.
std::optional<std::int64_t> restore_newest_whole(
    Storage& storage, const std::string& folder, bool strict,
    const std::function<std::int64_t(const std::string& manifest_path)>& restore_from);

}  // namespace actorflow
