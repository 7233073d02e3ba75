#include "actors/checkpoint/folder_epoch.h"

#include <fmt/format.h>

#include "actors/checkpoint/number_file.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

std::string path_in(const std::string& folder) { return folder + "/epoch"; }

}  // namespace

std::int64_t folder_epoch(Storage& storage, const std::string& folder) {
  return read_number(storage, path_in(folder)).value_or(0);
}

void raise_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch) {
  write_number(storage, path_in(folder), epoch);
}

void check_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch) {
  const auto present = folder_epoch(storage, folder);
  if (epoch == 0 || epoch >= present) return;
  throw Error(Code::aborted,
              fmt::format("fenced: a session of epoch {} wants to save in {}, which is at epoch {} now: "
                          "another chief has taken over since",
                          epoch, folder, present));
}

}  // namespace actorflow
