#include "actors/monitored/training_end.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <charconv>
#include <span>
#include <sstream>
#include <string_view>
#include <utility>

#include "actors/checkpoint/checkpoint.h"
#include "actors/monitored/storage_error.h"
#include "dataflow/values/error.h"
#include "schema/checksum.h"

namespace actorflow {
namespace {

constexpr std::string_view no_checkpoint = "none";

std::string path_in(const std::string& folder) { return folder + "/training-complete"; }

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string encode(const TrainingEnd& end) {
  const std::string said =
      fmt::format("{} steps, last checkpoint {}", end.steps,
                  end.checkpoint.empty() ? no_checkpoint : std::string_view(end.checkpoint));
  return fmt::format("{}, checksum {:016x}\n", said, checksum(std::as_bytes(std::span(said))));
}

// Nothing if the text is not, byte for byte, what this or an earlier version writes.
std::optional<TrainingEnd> decode(const std::string& text) {
  TrainingEnd end;
  std::istringstream words(text);
  words >> end.steps;
  if (text == fmt::format("{}\n", end.steps)) return end;
  for (std::string word; words >> word && word != "checkpoint";) {
  }
  words >> end.checkpoint;
  if (end.checkpoint.ends_with(',')) end.checkpoint.pop_back();
  if (end.checkpoint == no_checkpoint) end.checkpoint.clear();
  if (encode(end) != text) return std::nullopt;
  return end;
}

}  // namespace

void mark_complete(Storage& storage, const std::string& folder, std::int64_t steps) {
  const std::string text =
      encode({steps, name_of(latest_checkpoint(storage, folder).value_or(std::string()))});
  storage.write_atomically(path_in(folder), std::as_bytes(std::span(text)));
}

std::optional<TrainingEnd> read_training_end(Storage& storage, const std::string& folder) {
  const std::string path = path_in(folder);
  if (!storage.exists(path)) return std::nullopt;
  const auto bytes = storage.read(path);
  auto end = decode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!end)
    throw Error(
        Code::data_loss,
        fmt::format("'{}' should say that training is complete, but is damaged; remove it", path));
  return end;
}

std::optional<std::int64_t> latest_step(Storage& storage, const std::string& folder) {
  const auto path = latest_checkpoint(storage, folder);
  if (!path) return std::nullopt;
  const auto name = name_of(*path);
  constexpr std::string_view prefix = "step-";
  std::int64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  if (error != std::errc()) return std::nullopt;
  return step;
}

EndMark::EndMark(Storage& storage, std::string folder) : storage_(storage), folder_(std::move(folder)) {}

std::string EndMark::why_complete(std::int64_t steps) {
  if (folder_.empty() || steps <= 0) return "";
  try {
    const auto end = read_training_end(storage_, folder_);
    if (!end || end->steps < steps) return "";
    if (end->checkpoint.empty() || storage_.exists(folder_ + "/" + end->checkpoint))
      return fmt::format("training is complete: {} says so of {} steps, and {} are wanted",
                         path_in(folder_), end->steps, steps);
    say_once(fmt::format("'{}' is of another training, whose last checkpoint, {}, is not there",
                         path_in(folder_), end->checkpoint));
  } catch (const Error& error) {
    if (!is_of_storage(error.code()) && error.code() != Code::data_loss) throw;
    say_once(error.what());
  }
  return "";
}

void EndMark::say_once(const std::string& why) {
  if (std::exchange(said_, why) != why)
    spdlog::warn("goes on as if training were not complete: {}", why);
}

bool is_complete(Storage& storage, const std::string& folder, std::int64_t steps) {
  return !EndMark(storage, folder).why_complete(steps).empty();
}

}  // namespace actorflow
