#include <fmt/format.h>

#include <memory>
#include <optional>

#include "actors/checkpoint/start_number.h"
#include "actors/task/server.h"
#include "apps/cli/cluster_flags.h"
#include "apps/cli/flag_seconds.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/server_flags.h"
#include "apps/commands/commands.h"
#include "schema/cluster_json.h"
#include "schema/environment/task_from_environment.h"

namespace actorflow {
namespace {

struct ServerCommand {
  std::optional<std::string> cluster, job;
  std::optional<int> task;
  double connect_timeout_s = 60;
  std::string checkpoint_dir;
  ServerFlags flags;
};

// The task of the flags if any is given, else that of the environment.
TaskConfig task_of(const ServerCommand& command) {
  if (!command.cluster && !command.job && !command.task)
    if (const auto config = task_from_environment()) {
      if (config->is_evaluator())
        throw invalid_argument("TF_CONFIG: an evaluator is no server; start the program that evaluates");
      return *config;
    }
  if (!command.cluster || !command.job || !command.task)
    throw invalid_argument(
        "--cluster, --job and --task are required where neither TF_CONFIG nor a launcher (mpirun, srun, "
        "...) says them");
  TaskConfig config;
  config.cluster = read_cluster(*command.cluster);
  config.task = {*command.job, *command.task};
  config.cluster.address(config.task);
  return config;
}

int run(const ServerCommand& command) {
  Interrupts interrupts(std::chrono::milliseconds(0));
  ServerOptions options = command.flags.options();
  check_usage([&] {
    TaskConfig config = task_of(command);
    options.cluster = std::move(config.cluster);
    options.job = std::move(config.task.job);
    options.task = config.task.index;
  });
  options.connect_timeout_ms = milliseconds_of(command.connect_timeout_s);
  if (const auto& folder = command.checkpoint_dir; !folder.empty())
    options.start_number = start_task([&] {
      return take_start_number(posix_storage(), folder, {options.job, options.task});
    });
  Server server(options);
  interrupts.on_overdue([&server] { server.stop("interrupted"); });
  fmt::print("{} is listening on {}\n", server.name().to_string(), server.target());
  std::fflush(stdout);
  const std::string reason = server.join();
  interrupts.on_overdue(nullptr);
  check_not_replaced(server);
  throw_if_failed(server);
  fmt::print("{} has stopped: {}\n", server.name().to_string(), reason);
  return success;
}

}  // namespace

void add_server_command(Command& program) {
  auto command = std::make_shared<ServerCommand>();
  Command server = program.command("server", "Run one task of a cluster until it is told to stop");
  server.option("--cluster", command->cluster, "Jobs and addresses: JSON, or a file with it");
  server.option("--job", command->job, "Job of this task");
  server.option("--task", command->task, "Index of this task in its job");
  server.footer(
      "Without --cluster, --job and --task the environment says them: TF_CONFIG, or mpirun, srun or "
      "torchrun.");
  server
      .option(both_spellings("connect-timeout"), command->connect_timeout_s,
              "Seconds to wait for a task that cannot be reached")
      .check(positive_number())
      .show_default();
  server.option(both_spellings("checkpoint-dir"), command->checkpoint_dir,
                "Folder of checkpoints, where the starts of this task are counted: a process that is "
                "started in the place of another one is known to be the newer one");
  command->flags.add_to(server);
  server.runs([command] { return run(*command); });
}

}  // namespace actorflow
