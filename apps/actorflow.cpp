// The command line of Actorflow: train, server, checkpoint, export, records, sample, place, summaries,
// job, ensemble, launch, attach, stop, supervise, keygen, simulate, help, version.
#include "apps/cli/program.h"
#include "apps/commands/commands.h"

int main(int argc, char** argv) {
  using namespace actorflow;
  CLI::App app("Actorflow: an actor-model asynchronous dataflow engine", "actorflow");
  app.require_subcommand(0, 1);  // A second name is an argument of the first, as in "help train".
  Command command;
  add_train_command(app, command);
  add_server_command(app, command);
  add_checkpoint_command(app, command);
  add_export_command(app, command);
  add_records_command(app, command);
  add_sample_command(app, command);
  add_place_command(app, command);
  add_summaries_command(app, command);
  add_job_command(app, command);
  add_ensemble_command(app, command);
  add_launch_command(app, command);
  add_keep_command(app, command);
  add_attach_command(app, command);
  add_stop_command(app, command);
  add_supervise_command(app, command);
  add_keygen_command(app, command);
  add_simulate_command(app, command);
  add_help_command(app, command);
  add_version_command(app, command);
  spell_out_np(app, argc, argv);
  return run_program(app, argc, argv, [&] {
    if (!command) throw UsageError("expected a command; see actorflow help");
    return command();
  });
}
