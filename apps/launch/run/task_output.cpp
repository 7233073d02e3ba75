#include "apps/launch/run/task_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "dataflow/values/error.h"

namespace actorflow {

TaskOutput::TaskOutput(Console& console, const std::vector<LaunchedTask>& tasks,
                       const std::string& folder)
    : console_(console), folder_(folder) {
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(Code::failed_precondition,
                fmt::format("--log_dir '{}' cannot be made: {}", folder, error.message()));
  for (const auto& task : tasks) add_task(task);
}

void TaskOutput::add_task(const LaunchedTask& task) {
  Shown shown;
  shown.label = task.label();
  if (!folder_.empty()) {
    shown.log = fmt::format("{}/{}-{}.log", folder_, task.name.job, task.name.index);
    open_log(shown);
  }
  tasks_.push_back(std::move(shown));
}

void TaskOutput::open_log(Shown& shown) {
  keep_earlier(shown.log);
  shown.file.open(shown.log, std::ios::binary | std::ios::trunc);
  if (!shown.file)
    throw Error(Code::failed_precondition,
                fmt::format("the log '{}' cannot be written: {}", shown.log, std::strerror(errno)));
}

// A device or pipe is nothing to keep.
void TaskOutput::keep_earlier(const std::string& log) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_regular_file(log, error) || fs::is_empty(log, error)) return;
  std::string kept;
  for (int number = 1; fs::exists(kept = fmt::format("{}.{}", log, number), error); ++number) {
  }
  fs::rename(log, kept, error);
  if (error)
    throw Error(Code::failed_precondition, fmt::format("the earlier log '{}' cannot be kept as '{}': {}",
                                                       log, kept, error.message()));
  if (std::exchange(said_kept_, true)) return;
  console_.say(fmt::format("earlier logs in {} are kept, such as {}", folder_, kept));
}

void TaskOutput::add(int task, int stream, std::string_view bytes) {
  Shown& shown = tasks_.at(static_cast<std::size_t>(task));
  shown.streams.at(static_cast<std::size_t>(stream - 1)).add(bytes, [&](std::string_view line) {
    show(task, stream, line, true);
  });
}

void TaskOutput::finish(int task) {
  Shown& shown = tasks_.at(static_cast<std::size_t>(task));
  for (const int stream : {1, 2})
    shown.streams[static_cast<std::size_t>(stream - 1)].finish(
        [&](std::string_view line) { show(task, stream, line, false); });
}

void TaskOutput::show(int task, int stream, std::string_view line, bool is_whole) {
  Shown& shown = tasks_[static_cast<std::size_t>(task)];
  console_.print(stream, shown.label, task, line);
  if (shown.file.is_open()) write_log(shown, line, is_whole);
}

void TaskOutput::write_log(Shown& shown, std::string_view line, bool is_whole) {
  shown.file.write(line.data(), static_cast<std::streamsize>(line.size()));
  if (is_whole) shown.file.put('\n');
  if (shown.file.flush()) return;
  console_.say(
      fmt::format("the log '{}' lacks what comes from now on: {}", shown.log, std::strerror(errno)));
  shown.file.close();
}

void TaskOutput::close_logs() {
  for (auto& shown : tasks_) {
    if (!shown.file.is_open()) continue;
    shown.file.close();
    if (!shown.file)
      console_.say(
          fmt::format("the log '{}' may lack its last lines: {}", shown.log, std::strerror(errno)));
  }
}

}  // namespace actorflow
