// The commands of the program `actorflow`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace actorflow {

// The action after the arguments have been parsed; returns the exit status.
using Command = std::function<int()>;

// Each function adds a subcommand, which sets `command` when it is chosen.
void add_train_command(CLI::App& app, Command& command);
void add_server_command(CLI::App& app, Command& command);
void add_checkpoint_command(CLI::App& app, Command& command);
void add_export_command(CLI::App& app, Command& command);
void add_records_command(CLI::App& app, Command& command);
void add_sample_command(CLI::App& app, Command& command);
void add_place_command(CLI::App& app, Command& command);
void add_summaries_command(CLI::App& app, Command& command);
void add_job_command(CLI::App& app, Command& command);
void add_ensemble_command(CLI::App& app, Command& command);
void add_launch_command(CLI::App& app, Command& command);
void add_keep_command(CLI::App& app, Command& command);
void add_attach_command(CLI::App& app, Command& command);
void add_stop_command(CLI::App& app, Command& command);
void add_supervise_command(CLI::App& app, Command& command);
void add_keygen_command(CLI::App& app, Command& command);
void add_simulate_command(CLI::App& app, Command& command);
void add_help_command(CLI::App& app, Command& command);
void add_version_command(CLI::App& app, Command& command);

// Makes launch's -np, which the parser would take for -n with the value "p", its --np. In place.
void spell_out_np(const CLI::App& app, int argc, char** argv);

}  // namespace actorflow
