#include "actors/checkpoint/start_number.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <span>
#include <sstream>

#include "actors/checkpoint/number_file.h"
#include "actors/runtime/expect_path.h"
#include "actors/runtime/storage_tries.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// The place of the line among the file's lines, from 1 on; 0 if it is not there. A file of an earlier
// version begins with the number of the starts until then.
std::int64_t place_of(const std::string& line, Storage& storage, const std::string& path) {
  const auto bytes = storage.read(path);
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  std::int64_t place = 0;
  for (std::string other; std::getline(text, other);) {
    if (other.empty()) continue;
    const bool is_number = std::ranges::all_of(other, [](char c) { return c >= '0' && c <= '9'; });
    if (place == 0 && is_number) {
      place = read_number(storage, path).value_or(0);
      continue;
    }
    ++place;
    if (other == line) return place;
  }
  return 0;
}

// Each start appends a line of its own: the lines of all processes have an order, and nobody has to
// lock. It begins with the end of the line before, which a crash may have left without one.
std::uint32_t append_start(Storage& storage, const std::string& starts, const TaskName& task,
                           Random& random) {
  const std::string path = fmt::format("{}/{}-{}", starts, task.job, task.index);
  const std::string line = fmt::format("start {:016x}", random.next());
  const std::string entry = "\n" + line + "\n";
  if (!storage.exists(path)) {
    storage.append(path, {});
    storage.sync(starts);
  }
  storage.append_synced(path, std::as_bytes(std::span(entry)));
  const std::int64_t place = place_of(line, storage, path);
  if (place == 0)
    throw Error(Code::data_loss,
                fmt::format("'{}' lacks the line '{}' that was appended to it: start again, on a disk "
                            "that keeps what several processes append",
                            path, line));
  return static_cast<std::uint32_t>(place);
}

}  // namespace

std::uint32_t take_start_number(Storage& storage, const std::string& folder, const TaskName& task,
                                Random& random,
                                const std::function<void(std::chrono::seconds)>& sleep) try {
  const std::string starts = expect_path("take_start_number", folder) + "/starts";
  return try_storage(sleep ? sleep : sleep_on_machine, "counting the starts in " + starts,
                     [&] { return append_start(storage, starts, task, random); });
} catch (const Error& error) {
  if (error.code() != Code::resource_exhausted) throw;
  spdlog::warn(
      "this start of {} is not counted, so nobody can tell whether it is newer than another: {}",
      task.to_string(), error.what());
  return 0;
}

}  // namespace actorflow
