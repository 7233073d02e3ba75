#include "apps/launch/run/task_output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

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
    shown.file.open(shown.log, std::ios::binary | std::ios::trunc);
    if (!shown.file)
      throw Error(Code::failed_precondition,
                  fmt::format("the log '{}' cannot be written: {}", shown.log, std::strerror(errno)));
  }
  tasks_.push_back(std::move(shown));
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
