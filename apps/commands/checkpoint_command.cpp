#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/checkpoint/extra_state.h"
#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::int64_t newest = -1;

struct Arguments {
  std::string folder;
  std::int64_t step = newest;
};

// At least one; throws not_found.
std::vector<std::string> checkpoints_in(const std::string& folder) {
  auto paths = list_checkpoints(posix_storage(), folder);
  if (paths.empty())
    throw Error(
        Code::not_found,
        fmt::format("there is no checkpoint in '{}'; expected a file step-<n>[.epoch-<e>].manifest",
                    folder));
  return paths;
}

std::string chosen(const Arguments& arguments) {
  const auto paths = checkpoints_in(arguments.folder);
  if (arguments.step == newest) return paths.front();
  const auto begin = fmt::format("{}/step-{}.", arguments.folder, arguments.step);
  const auto found =
      std::ranges::find_if(paths, [&](const auto& path) { return path.starts_with(begin); });
  if (found != paths.end()) return *found;
  throw Error(Code::not_found,
              fmt::format("'{}' has no checkpoint of step {}; see actorflow checkpoint list",
                          arguments.folder, arguments.step));
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  return bytes < mib ? fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024)
                     : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / static_cast<double>(mib));
}

std::string time_text(std::int64_t saved_at_s) {
  return saved_at_s == 0 ? "-" : fmt::format("{:%F %T}", fmt::localtime(std::time_t{saved_at_s}));
}

int list(const std::string& folder) {
  constexpr std::string_view row = "{:>12}  {:<19}  {:>9}  {:>5}  {:>12}  {}\n";
  const auto paths = checkpoints_in(folder);
  int result = success;
  fmt::print(row, "step", "saved", "variables", "files", "size", "manifest");
  for (const auto& path : paths) try {
      const Manifest manifest = read_manifest(posix_storage(), path);
      std::set<std::string> variables;
      for (const auto& entry : manifest.tensors)
        if (entry.variable.empty() && !is_extra(entry.name)) variables.insert(entry.name);
      std::uint64_t bytes = 0;
      for (const auto& file : manifest.files) bytes += file.size_bytes;
      fmt::print(row, manifest.global_step, time_text(manifest.saved_at_s), variables.size(),
                 manifest.files.size(), size_text(bytes), path.substr(path.rfind('/') + 1));
      for (const auto& file : manifest.files)
        if (!posix_storage().exists(folder + "/" + file.name))
          throw Error(Code::data_loss,
                      fmt::format("{}/{}, a file of the checkpoint of step {}, is missing", folder,
                                  file.name, manifest.global_step));
    } catch (const Error& error) {
      fmt::print(stderr, "error: {}\n", error.what());
      result = failed_run;
    }
  return result;
}

std::string rows_text(const Manifest::Entry& entry) {
  if (entry.full_rows < 0) return {};
  return fmt::format("  rows {} to {} of {}", entry.first_row, entry.first_row + entry.rows(),
                     entry.full_rows);
}

int show(const Arguments& arguments) {
  const Manifest manifest = read_manifest(posix_storage(), chosen(arguments));
  std::size_t width = 6;
  for (const auto& entry : manifest.tensors) width = std::max(width, entry.name.size());
  fmt::print("step {}, saved {}{}\n\n", manifest.global_step, time_text(manifest.saved_at_s),
             manifest.one_step ? "" : "; its variables may be of different steps");
  fmt::print("{:<{}}  {:<8}  {:<16}  {:>12}  {}\n", "tensor", width, "dtype", "shape", "size", "file");
  for (const auto& entry : manifest.tensors)
    fmt::print("{:<{}}  {:<8}  {:<16}  {:>12}  {}{}\n", entry.name, width,
               std::string(to_string(entry.dtype)), entry.shape.to_string(), size_text(entry.size_bytes),
               manifest.files[entry.file].name, rows_text(entry));
  return success;
}

int verify(const std::string& folder) {
  int result = success;
  for (const auto& path : checkpoints_in(folder)) {
    const auto mistakes = verify_checkpoint(posix_storage(), path);
    fmt::print("{}: {}\n", path, mistakes.empty() ? "whole" : "damaged");
    for (const auto& mistake : mistakes) fmt::print("  {}\n", mistake);
    if (!mistakes.empty()) result = failed_run;
  }
  return result;
}

Command add(Command& to, const char* name, const char* description, Arguments& arguments) {
  Command command = to.command(name, description);
  command.option("FOLDER", arguments.folder, "Folder of checkpoints").required();
  return command;
}

}  // namespace

void add_checkpoint_command(Command& program) {
  Command checkpoint = program.command("checkpoint", "Look at checkpoints: list, show, verify");
  checkpoint.require_command();
  const auto arguments = std::make_shared<Arguments>();
  add(checkpoint, "list", "The checkpoints of a folder", *arguments).runs([arguments] {
    return list(arguments->folder);
  });
  Command one = add(checkpoint, "show", "The tensors of a checkpoint", *arguments);
  one.option("--step", arguments->step, "Its step; the newest by default").check(nonnegative_number());
  one.runs([arguments] { return show(*arguments); });
  add(checkpoint, "verify", "Check every byte of the checkpoints of a folder", *arguments)
      .runs([arguments] { return verify(arguments->folder); });
}

}  // namespace actorflow
