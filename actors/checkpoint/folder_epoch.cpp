#include "actors/checkpoint/folder_epoch.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/checkpoint/folder.h"
#include "actors/checkpoint/number_file.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string path_in(const std::string& folder) { return folder + "/epoch"; }

}  // namespace

std::int64_t folder_epoch(Storage& storage, const std::string& folder) {
  return folder_epoch(storage, folder, storage.list(folder));
}

// A file that cannot be read is no reason to admit every chief.
std::int64_t folder_epoch(Storage& storage, const std::string& folder,
                          const std::vector<std::string>& names) {
  const std::string path = path_in(folder);
  const auto in_names = newest_epoch_in_names(names);
  if (!storage.exists(path)) return in_names;  // asked first: another chief may write it just now
  if (const auto epoch = read_number(storage, path)) return std::max(*epoch, in_names);
  throw Error(Code::data_loss,
              fmt::format("'{}' should hold the epoch of the chief who saves there, but does not begin "
                          "with a number; remove it when no other chief runs any more",
                          path));
}

void raise_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch) {
  write_number(storage, path_in(folder), epoch);
}

void check_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch) {
  if (epoch != 0) check_folder_epoch(storage, folder, epoch, storage.list(folder));
}

void check_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch,
                        const std::vector<std::string>& names) {
  if (epoch == 0) return;
  const auto present = folder_epoch(storage, folder, names);
  if (epoch >= present) return;
  throw Error(Code::aborted,
              fmt::format("fenced: a session of epoch {} wants to save in {}, which is at epoch {} now: "
                          "another chief has taken over since",
                          epoch, folder, present));
}

}  // namespace actorflow
