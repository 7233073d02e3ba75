// Restoring from a folder in which others may save meanwhile. For actors/ only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/checkpoint/checkpoint.h"
#include "actors/runtime/storage.h"
#include "actors/runtime/storage_tries.h"
#include "dataflow/values/error.h"

namespace actorflow {

// Calls `restore_from` with the path of the newest checkpoint, and with those of older ones while they
// are damaged; returns the step that it returns, or nothing if there is no checkpoint. One that is
// removed meanwhile is passed over: a newer one has taken its place. Newer damaged ones are logged, or
// with `strict` thrown; if none is whole, throws the error of the newest.
std::optional<std::int64_t> restore_newest_whole(
    Storage& storage, const std::string& folder, bool strict,
    const std::function<std::int64_t(const std::string& manifest_path)>& restore_from);

// Returns what `restore(strict)` returns, of a folder of checkpoints: strictly first, and again after a
// pause for a disk_error, since an error that may pass is not yet a reason to fall back to an older one.
template <class Restore>
auto restore_newest(const StorageSleep& sleep, const std::string& folder, Restore&& restore) {
  try {
    return try_storage(sleep, "restoring from " + folder, [&] { return restore(true); });
  } catch (const Error& error) {
    if (error.code() != Code::data_loss) {  // or it is logged as what is passed over
      if (!is_of_storage(error.code())) throw;
      spdlog::warn("restoring from {} failed, trying once more: {}", folder, error.what());
    }
    return restore(false);
  }
}

// restore_newest_whole() by the rule of restore_newest().
std::optional<std::int64_t> restore_newest_with_tries(
    Storage& storage, const std::string& folder, const StorageSleep& sleep,
    const std::function<std::int64_t(const std::string& manifest_path)>& restore_from);

// load_newest_whole_checkpoint() of a thread that sleeps like this.
std::optional<Checkpoint> load_newest_whole_checkpoint(Storage& storage, const std::string& folder,
                                                       const StorageSleep& sleep);

}  // namespace actorflow
