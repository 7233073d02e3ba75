#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/program.h"
#include "apps/commands/commands.h"
#include "apps/launch/allocation.h"
#include "apps/launch/deploy/deploy_command.h"
#include "apps/launch/hosts.h"
#include "apps/launch/keeper/guard.h"
#include "apps/launch/keeper/keeper.h"
#include "apps/launch/run/launcher.h"

namespace actorflow {
namespace {

struct LaunchCommand {
  std::optional<std::string> hosts, hosts_file;
  std::optional<int> workers;
  std::vector<int> cooldown;  // of --blacklist_cooldown_range
  std::vector<std::string> variables;
  bool program_follows = false;  // a flag that stands for "--"
  LaunchOptions options;
  DeployOptions deploy;
};

// NAME=VALUE, or NAME with the value that it has here.
EnvironmentVariable variable_of(const std::string& text) {
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (name.empty()) throw UsageError(fmt::format("--env: expected NAME or NAME=VALUE, got '{}'", text));
  if (equals != text.npos) return {name, text.substr(equals + 1)};
  const char* value = std::getenv(name.c_str());
  if (!value)
    throw UsageError(fmt::format("--env {}: there is no such variable here; say {}=VALUE", name, name));
  return {name, value};
}

// Of --blacklist_cooldown_range; none if it is not given.
std::optional<PauseRange> cooldown_of(const LaunchCommand& command) {
  const auto& range = command.cooldown;
  if (range.empty()) return {};
  if (range.size() != 2 || range[0] > range[1])
    throw UsageError(
        fmt::format("--blacklist_cooldown_range: expected the first and the longest pause in seconds, "
                    "as in 30,600, got {}",
                    fmt::join(range, ",")));
  if (command.options.job.host_discovery.empty())
    throw UsageError(
        "--blacklist_cooldown_range is for hosts that are discovered; give --host_discovery, or omit "
        "it");
  return PauseRange{range[0], range[1]};
}

// The members of an elastic job are equal among each other.
void check_elastic(LaunchCommand& command) {
  JobSpec& job = command.options.job;
  if (job.ps > 0 || job.hybrid || job.chief || job.evaluator)
    throw UsageError(
        "an elastic job (--min, --max, --host_discovery) has workers only, which train by all-reduce; "
        "omit --ps, --hybrid, --chief and --evaluator");
  if (!job.host_discovery.empty() && (command.hosts || command.hosts_file))
    throw UsageError("--host_discovery finds the hosts; omit -H and --hostfile");
  if (!job.host_discovery.empty() && job.num_gpus)
    throw UsageError(
        "--num_gpus divides the GPUs of a host among the workers that begin there, but with "
        "--host_discovery more may come; omit --num_gpus");
  job.min_workers = job.min_workers.value_or(1);
  job.max_workers = job.max_workers.value_or(job.workers);
  if (*job.min_workers > job.workers || job.workers > *job.max_workers)
    throw UsageError(fmt::format("expected --min <= -np <= --max, got {}, {} and {}", *job.min_workers,
                                 job.workers, *job.max_workers));
}

// Credentials that the launcher gives must be those that tasks use.
void check_security(LaunchCommand& command) {
  const std::string& folder = command.deploy.credentials;
  LaunchOptions& options = command.options;
  if (options.secure && !command.deploy.to.empty())
    throw UsageError("--secure is for a job that is started; with --to say --tls FOLDER");
  if (options.secure && !folder.empty())
    throw UsageError("--secure makes credentials for this job alone; omit it, or --tls");
  options.credentials = folder;
  options.secure |= !folder.empty() && command.deploy.to.empty();
  if (!options.secure) return;
  const std::string flag = folder.empty() ? "--secure" : "--tls";
  for (const auto& word : options.job.command)
    if (word == "--insecure" || word == "--credentials" || word.starts_with("--credentials="))
      throw UsageError(
          fmt::format("{} gives credentials to all tasks; omit {} of the program", flag, word));
  for (const auto& variable : options.job.environment)
    if (variable.name == "ACTORFLOW_CREDENTIALS")
      throw UsageError(fmt::format("{} sets ACTORFLOW_CREDENTIALS; omit it in --env", flag));
}

// What the flags mean together.
void complete(LaunchCommand& command) {
  JobSpec& job = command.options.job;
  if (command.workers) job.workers = *command.workers;
  if (command.hosts && command.hosts_file)
    throw UsageError("both -H and --hostfile name the hosts; omit one of them");
  if (command.hosts) job.hosts = parse_hosts(*command.hosts);
  if (command.hosts_file) job.hosts = read_hosts_file(*command.hosts_file);
  const bool has_hosts = command.hosts || command.hosts_file || !job.host_discovery.empty();
  if (!has_hosts && command.deploy.to.empty()) job.hosts = allocated_hosts();
  for (const auto& text : command.variables) job.environment.push_back(variable_of(text));
  if (job.hybrid && job.ps > 0) throw UsageError("--hybrid has a ps on each host; omit --ps");
  if (job.hybrid && command.workers && job.workers != num_hosts(job))
    throw UsageError(fmt::format("--hybrid has a worker on each of {} hosts, but -np is {}; omit -np",
                                 num_hosts(job), job.workers));
  if (!job.hybrid && !command.workers && command.deploy.to != "docker")
    throw UsageError("expected -np N, the number of processes with a rank (or --hybrid)");
  job.cooldown = cooldown_of(command);
  if (job.is_elastic()) check_elastic(command);
  check_security(command);
  command.options.version = ACTORFLOW_VERSION;
}

int run(LaunchCommand command) {
  open_standard_streams();  // what is opened next must not take the place of a closed one
  check_usage([&] { complete(command); });
  const auto& words = command.options.job.command;
  if (!words.empty() && words[0].starts_with('-'))
    throw UsageError(fmt::format("launch has no option {}; see actorflow help launch", words[0]));
  if (!command.deploy.to.empty()) return deploy_command(command.deploy, command.options.job);
  std::unique_ptr<Launcher> launcher;
  check_usage([&] { launcher = std::make_unique<Launcher>(std::move(command.options)); });
  return launcher->run();
}

void add_job_flags(Command& launch, LaunchCommand& command) {
  JobSpec& job = command.options.job;
  const auto add = [&launch](const char* name, auto& value, const char* what) {
    return launch.option(name, value, what);
  };
  add("--np,-n", command.workers,
      "Processes with a rank: the workers, or a chief and workers (-np, too)")
      .check(in_range(1, 100'000));
  add("--ps", job.ps, "Parameter servers beside them, spread over the hosts").check(in_range(0, 10'000));
  launch.flag("--hybrid", job.hybrid, "A ps and a worker on each host, the ps without GPUs");
  launch.flag("--chief", job.chief, "Rank 0 is the task 'chief' instead of worker 0");
  launch.flag("--evaluator", job.evaluator, "An evaluator beside them, on the last host");
  add("--num_gpus,--num-gpus", job.num_gpus, "GPUs of each host, divided among its workers")
      .check(in_range(0, 1024));
  add("--restarts", job.restarts,
      "How many tasks of the job may die and be started again, after their first step")
      .check(in_range(0, 1'000'000));
  add("--env,-x", command.variables,
      "NAME=VALUE for the tasks, or NAME with its value here; again for more")
      .one_at_a_time();
  add("--work_dir,--work-dir", job.folders.work, "Where tasks start; the folder of this command");
  add("--data_dir,--data-dir", job.folders.data,
      "Must be there to read on each host; ACTORFLOW_DATA_DIR");
  add("--output_dir,--output-dir", job.folders.output,
      "Must be there to write on each host; ACTORFLOW_OUTPUT_DIR");
  add("--log_dir,--log-dir", job.folders.logs, "A file of output for each task, here");
}

void add_elastic_flags(Command& launch, LaunchCommand& command) {
  JobSpec& job = command.options.job;
  const auto add = [&launch](const char* name, auto& value, const char* what) {
    return launch.option(name, value, what).in_group("Elastic jobs");
  };
  add("--min", job.min_workers,
      "Tasks that must be there to train; while there are so many, the job goes on without lost ones")
      .check(in_range(1, 100'000));
  add("--max", job.max_workers, "Tasks at most, where hosts are discovered; without it -np")
      .check(in_range(1, 100'000));
  add("--host_discovery,--host-discovery", job.host_discovery,
      "A script that prints the hosts, a line host:slots for each; it is run every second");
  add("--blacklist_cooldown_range,--blacklist-cooldown-range", command.cooldown,
      "FIRST,LONGEST: for so many seconds a host on which a task has ended gets no new one, longer each "
      "time; without it until the script drops it")
      .comma_separated()
      .one_at_a_time()
      .check(in_range(1, 1'000'000));
  add("--reset_limit,--reset-limit", job.reset_limit,
      "How often the tasks that train may change before the job ends")
      .check(in_range(0, 1'000'000));
  add("--elastic_timeout,--elastic-timeout", job.elastic_timeout_s,
      "Seconds to wait for --min tasks; 600 without it")
      .check(in_range(1, 1'000'000));
}

void add_host_flags(Command& launch, LaunchCommand& command) {
  launch.option(
      "-H,--hosts", command.hosts,
      "host:slots,user@host:slots,... Without it those of Slurm's allocation, or this machine");
  launch.option("--hostfile,--hosts_file", command.hosts_file,
                "The same, a host in each line: host slots=N");
  launch
      .option("--port", command.options.first_port,
              "Of the first task of each host; without it free ones")
      .check(in_range(1, 65'535));
  launch.option("--ssh_config,--ssh-config", command.options.ssh_config, "For ssh -F")
      .check(existing_file());
  launch.flag("--secure", command.options.secure,
              "Mutual TLS between the tasks, with credentials that are gone when the job ends");
  launch.option("--actorflow", command.options.actorflow,
                "Path of this program on the other hosts; without it as here");
}

}  // namespace

void spell_out_np(const Command& program, int argc, char** argv) {
  static char long_name[] = "--np", end_of_options[] = "--program";
  if (argc < 2 || argv[1] != std::string_view("launch")) return;
  const auto launch = program.find("launch");
  for (int i = 2; i < argc && argv[i][0] == '-'; ++i) {
    if (argv[i] == std::string_view("--")) {
      argv[i] = end_of_options;
      return;
    }
    if (argv[i] == std::string_view("-np")) argv[i] = long_name;
    i += launch->takes_next(argv[i]);
  }
}

void add_launch_command(Command& program) {
  auto command = std::make_shared<LaunchCommand>();
  Command launch = program.command("launch", "Start a job: a program as tasks here, or by ssh on hosts");
  add_job_flags(launch, *command);
  add_host_flags(launch, *command);
  add_elastic_flags(launch, *command);
  add_deploy_flags(launch, command->deploy);
  // Stands for "--", after which the parser would look for a program of its own.
  launch.flag("--program", command->program_follows).hide();
  launch.rest(command->options.job.command);
  launch.footer("Then follow the program and its arguments: launch -np 4 build/bin/trainer --epochs 2");
  launch.runs([command] { return run(*command); });
}

void add_keep_command(Command& program) {
  Command keep = program.command("keep", "The tasks of one machine, for actorflow launch");
  keep.hide();  // people do not call it
  keep.runs([] {
    return guarded([] {
      Keeper(ACTORFLOW_VERSION).run();
      return int{success};
    });
  });
}

}  // namespace actorflow
