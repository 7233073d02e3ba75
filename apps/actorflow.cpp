// The command line of Actorflow: train, server, checkpoint, export, records, sample, place, summaries,
// job, ensemble, launch, attach, stop, supervise, keygen, simulate, waits, help, version.
#include "apps/cli/program.h"
#include "apps/commands/commands.h"

int main(int argc, char** argv) {
  using namespace actorflow;
  CommandLine program("Actorflow: an actor-model asynchronous dataflow engine", "actorflow");
  add_train_command(program);
  add_server_command(program);
  add_checkpoint_command(program);
  add_export_command(program);
  add_records_command(program);
  add_sample_command(program);
  add_place_command(program);
  add_summaries_command(program);
  add_job_command(program);
  add_ensemble_command(program);
  add_launch_command(program);
  add_keep_command(program);
  add_attach_command(program);
  add_stop_command(program);
  add_supervise_command(program);
  add_keygen_command(program);
  add_simulate_command(program);
  add_waits_command(program);
  add_trace_command(program);
  add_help_command(program);
  add_version_command(program);
  spell_out_np(program, argc, argv);
  return run_program(program, argc, argv, [&] {
    if (!program.chosen()) throw UsageError("expected a command; see actorflow help");
    return program.chosen()();
  });
}
