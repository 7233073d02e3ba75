#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <thread>

#include "actors/events/event_reader.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/summary_table.h"
#include "apps/commands/commands.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

namespace fs = std::filesystem;

struct SummariesCommand {
  std::string folder;
  std::string tag;
  bool follow = false;
};

struct Run {
  explicit Run(const std::string& folder) : reader(posix_storage(), folder) {}
  EventReader reader;
  SummaryTable table;
};

// The runs below a folder: each folder that holds event files is one.
class Runs {
 public:
  explicit Runs(std::string folder) : folder_(std::move(folder)) {}

  // Reads what is new; returns whether there was something.
  bool poll() {
    find();
    bool changed = false;
    for (auto& entry : runs_) changed = poll(entry.second) || changed;
    return changed;
  }
  bool empty() const {
    return std::ranges::all_of(runs_, [](const auto& entry) { return entry.second.table.empty(); });
  }
  std::string to_string(const std::string& tag) const {
    std::string text;
    for (const auto& [name, run] : runs_)
      text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", name, run.table.to_string(tag));
    return text;
  }

 private:
  void find() {
    std::error_code error;  // a folder that is not there yet has no runs
    for (fs::recursive_directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().filename().string().find("tfevents") != std::string::npos) {
        const std::string run = entry->path().parent_path().string();
        runs_.try_emplace(run, run);
      }
  }

  static bool poll(Run& run) {
    try {
      const auto events = run.reader.poll();
      for (const auto& event : events) run.table.add(event);
      return !events.empty();
    } catch (const Error& error) {
      if (error.code() != Code::data_loss) throw;
      spdlog::warn("{}; the rest of the file is left out", error.what());
      return true;
    }
  }

  std::string folder_;
  std::map<std::string, Run> runs_;  // by folder
};

// A second, or less if the program is to leave.
void pause(const Interrupts& interrupts) {
  for (int i = 0; i < 10 && !interrupts.requested(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

int follow(const SummariesCommand& command, Runs& runs) {
  Interrupts interrupts(std::chrono::milliseconds(3000));
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  for (int second = 0; !interrupts.requested(); ++second, pause(interrupts)) {
    if (runs.poll()) {
      fmt::print("{}{}", terminal ? "\x1b[H\x1b[2J" : "", runs.to_string(command.tag));
      std::fflush(stdout);
    } else if (runs.empty() && second % 5 == 0) {
      spdlog::info("waiting for event files in {}", command.folder);
    }
  }
  return success;
}

int run(const SummariesCommand& command) {
  if (!command.follow && !std::filesystem::exists(command.folder))
    throw Error(Code::not_found,
                fmt::format("there is no folder '{}'; to wait for it, add --follow", command.folder));
  if (std::filesystem::is_regular_file(command.folder))
    throw UsageError(
        fmt::format("'{}' is a file: name the folder that has the event files", command.folder));
  Runs runs(command.folder);
  if (command.follow) return follow(command, runs);
  while (runs.poll()) continue;
  if (runs.empty())
    throw Error(
        Code::not_found,
        fmt::format("there are no events in files with 'tfevents' in their names in {} or below it; "
                    "to wait for them, add --follow",
                    command.folder));
  fmt::print("{}", runs.to_string(command.tag));
  return success;
}

}  // namespace

void add_summaries_command(Command& program) {
  auto command = std::make_shared<SummariesCommand>();
  Command summaries =
      program.command("summaries", "Show the summaries in event files, TensorBoard's format");
  summaries.option("folder", command->folder, "Folder with event files, or with folders of them")
      .required();
  summaries.option("--tag", command->tag, "Show only tags that contain this");
  summaries.flag("--follow", command->follow, "Go on, and show what comes");
  summaries.runs([command] { return run(*command); });
}

}  // namespace actorflow
