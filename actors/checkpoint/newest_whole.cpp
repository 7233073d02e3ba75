#include "actors/checkpoint/newest_whole.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <vector>

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The first that has not been tried.
std::optional<std::string> newest_of(const std::vector<std::string>& paths,
                                     const std::set<std::string>& tried) {
  const auto found =
      std::ranges::find_if(paths, [&](const auto& path) { return !tried.contains(path); });
  return found == paths.end() ? std::nullopt : std::optional(*found);
}

// An older checkpoint may do where these bytes are not to be had.
bool is_damage(Code code) {
  return code == Code::data_loss || code == Code::not_found || code == Code::disk_error;
}

}  // namespace

std::optional<std::int64_t> restore_newest_whole(
    Storage& storage, const std::string& folder, bool strict,
    const std::function<std::int64_t(const std::string& manifest_path)>& restore_from) {
  std::set<std::string> tried;
  std::optional<Error> newest_failure;
  while (const auto path = newest_of(list_checkpoints(storage, folder), tried)) try {
      tried.insert(*path);
      const std::int64_t step = restore_from(*path);
      if (newest_failure) spdlog::warn("fell back to {}, the newest checkpoint that is whole", *path);
      return step;
    } catch (const Error& error) {
      if (!storage.exists(*path)) continue;  // A newer one has taken its place.
      if (strict || !is_damage(error.code())) throw;
      spdlog::error("a checkpoint cannot be restored: {}", error.what());
      if (!newest_failure) newest_failure = error;
    }
  if (newest_failure) throw Error(*newest_failure);
  return std::nullopt;
}

std::optional<std::int64_t> restore_newest_with_tries(
    Storage& storage, const std::string& folder, const StorageSleep& sleep,
    const std::function<std::int64_t(const std::string& manifest_path)>& restore_from) {
  return restore_newest(sleep, folder, [&](bool strict) {
    return restore_newest_whole(storage, folder, strict, restore_from);
  });
}

std::optional<Checkpoint> load_newest_whole_checkpoint(Storage& storage, const std::string& folder,
                                                       const StorageSleep& sleep) {
  std::optional<Checkpoint> checkpoint;
  restore_newest_with_tries(storage, folder, sleep, [&](const std::string& path) {
    return checkpoint.emplace(load_checkpoint(storage, path)).global_step;
  });
  return checkpoint;
}

std::optional<Checkpoint> load_newest_whole_checkpoint(Storage& storage, const std::string& folder) {
  return load_newest_whole_checkpoint(storage, folder, sleep_on_machine);
}

}  // namespace actorflow
