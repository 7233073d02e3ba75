#include <chrono>
#include <memory>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/launch/keeper/supervisor.h"

namespace actorflow {
namespace {

struct SuperviseCommand {
  double pause_s = 1;
  std::vector<std::string> command;
};

int run(const SuperviseCommand& options) {
  if (options.command.empty())
    throw UsageError(
        "expected the program to supervise, for example: supervise trainer --train_steps 9");
  if (options.command[0].starts_with('-'))
    throw UsageError("supervise has no option " + options.command[0] + "; see actorflow help supervise");
  const std::chrono::duration<double> pause(options.pause_s);
  return supervise(options.command, std::chrono::ceil<std::chrono::milliseconds>(pause));
}

}  // namespace

void add_supervise_command(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<SuperviseCommand>();
  CLI::App* supervise = app.add_subcommand(
      "supervise", "Run one task of a cluster that nobody launches, and again when it dies");
  supervise->add_option("--pause,-d", options->pause_s, "Seconds between two runs")
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  supervise->prefix_command();  // what follows the program is the program's
  supervise->footer(
      "Then follow the program and its arguments. Status 0, 2 (wrong arguments) and 130 (interrupted) "
      "end this program, too.");
  supervise->callback([supervise, options, &chosen] {
    chosen = [supervise, options] {
      options->command = supervise->remaining();
      return run(*options);
    };
  });
}

}  // namespace actorflow
