#include "actors/monitored/training_end.h"

#include <charconv>
#include <string_view>

#include "actors/checkpoint/checkpoint.h"
#include "actors/checkpoint/number_file.h"
#include "actors/monitored/storage_error.h"

namespace actorflow {
namespace {

std::string path_in(const std::string& folder) { return folder + "/training-complete"; }

}  // namespace

void mark_complete(Storage& storage, const std::string& folder, std::int64_t global_step) {
  write_number(storage, path_in(folder), global_step);
}

std::optional<std::int64_t> completed_step(Storage& storage, const std::string& folder) {
  return read_number(storage, path_in(folder));
}

std::optional<std::int64_t> latest_step(Storage& storage, const std::string& folder) {
  const auto path = latest_checkpoint(storage, folder);
  if (!path) return std::nullopt;
  const auto name = path->substr(path->rfind('/') + 1);
  constexpr std::string_view prefix = "step-";
  std::int64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  if (error != std::errc()) return std::nullopt;
  return step;
}

bool is_complete(Storage& storage, const std::string& folder, std::int64_t last_step) {
  if (folder.empty() || last_step <= 0) return false;
  try {
    return completed_step(storage, folder).value_or(-1) >= last_step;
  } catch (const Error& error) {
    if (!is_of_storage(error.code())) throw;
    return false;
  }
}

}  // namespace actorflow
