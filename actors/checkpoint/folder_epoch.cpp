#include "actors/checkpoint/folder_epoch.h"

#include <fmt/format.h>

#include <charconv>
#include <span>

#include "dataflow/error.h"

namespace actorflow {
namespace {

std::string path_in(const std::string& folder) { return folder + "/epoch"; }

}  // namespace

std::int64_t folder_epoch(Storage& storage, const std::string& folder) {
  if (!storage.exists(path_in(folder))) return 0;
  const auto bytes = storage.read(path_in(folder));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  std::int64_t epoch = 0;
  std::from_chars(text, text + bytes.size(), epoch);
  return epoch;
}

void raise_folder_epoch(Storage& storage, const std::string& folder, std::int64_t epoch) {
  const std::string text = std::to_string(epoch) + "\n";
  storage.write_atomically(path_in(folder), std::as_bytes(std::span(text)));
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
