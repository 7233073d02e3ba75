// The commands of the program `actorflow`.
#pragma once

#include "schema/command_line/command_line.h"

namespace actorflow {

// Each function adds a command.
void add_train_command(Command& program);
void add_server_command(Command& program);
void add_checkpoint_command(Command& program);
void add_export_command(Command& program);
void add_records_command(Command& program);
void add_sample_command(Command& program);
void add_place_command(Command& program);
void add_summaries_command(Command& program);
void add_job_command(Command& program);
void add_ensemble_command(Command& program);
void add_launch_command(Command& program);
void add_keep_command(Command& program);
void add_attach_command(Command& program);
void add_stop_command(Command& program);
void add_supervise_command(Command& program);
void add_keygen_command(Command& program);
void add_simulate_command(Command& program);
void add_waits_command(Command& program);
void add_trace_command(Command& program);
void add_help_command(Command& program);
void add_version_command(Command& program);

// Makes launch's -np, which the parser would take for -n with the value "p", its --np. In place.
void spell_out_np(const Command& program, int argc, char** argv);

}  // namespace actorflow
