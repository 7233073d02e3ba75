#include <chrono>
#include <memory>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/launch/keeper/supervisor.h"

namespace actorflow {
namespace {

struct SuperviseCommand {
  double pause_s = 1, longest_pause_s = 30;
  std::vector<std::string> command;
};

int run(const SuperviseCommand& options) {
  if (options.command.empty())
    throw UsageError(
        "expected the program to supervise, for example: supervise trainer --train_steps 9");
  if (options.command[0].starts_with('-'))
    throw UsageError("supervise has no option " + options.command[0] + "; see actorflow help supervise");
  const auto milliseconds = [](double seconds) {
    return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  };
  return supervise(options.command,
                   {milliseconds(options.pause_s), milliseconds(options.longest_pause_s)});
}

}  // namespace

void add_supervise_command(Command& program) {
  auto options = std::make_shared<SuperviseCommand>();
  Command supervise = program.command(
      "supervise", "Run one task of a cluster that nobody launches, and again when it dies");
  const auto add = [&](const std::string& name, double& seconds, const char* what) {
    supervise.option(name, seconds, what).check(in_range(0.0, 86'400.0)).show_default();
  };
  add("--pause,-d", options->pause_s,
      "Seconds before the second run; twice as many before each next one");
  add("--longest_pause,--longest-pause", options->longest_pause_s,
      "Seconds at most; after a run that lasts as long the pause is the first one again");
  supervise.rest(options->command);
  supervise.footer(
      "Then follow the program and its arguments. Status 0, 2 (wrong arguments) and 130 (interrupted) "
      "end this program, too.");
  supervise.runs([options] { return run(*options); });
}

}  // namespace actorflow
