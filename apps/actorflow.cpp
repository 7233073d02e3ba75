// The command line of Actorflow: train, server, help, version.
#include "apps/cli/commands.h"
#include "apps/cli/program.h"

int main(int argc, char** argv) {
  using namespace actorflow;
  CLI::App app("Actorflow: an actor-model asynchronous dataflow engine", "actorflow");
  app.require_subcommand(1);
  Command command;
  add_train_command(app, command);
  add_server_command(app, command);
  add_help_command(app, command);
  add_version_command(app, command);
  return run_program(app, argc, argv, [&] { return command(); });
}
