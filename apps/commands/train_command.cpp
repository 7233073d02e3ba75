#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <utility>

#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/train_outputs.h"
#include "apps/cli/train_task.h"
#include "apps/commands/commands.h"
#include "apps/training/train_locally.h"

namespace actorflow {
namespace {

struct TrainCommand {
  bool alone = false;  // one worker, where nobody says otherwise
  std::optional<int> ps{}, workers{};
  TrainTaskFlags flags{};
};

// The tasks of a cluster in this process.
struct Tasks {
  int ps = 2, workers = 2;
};

Tasks tasks_of(const TrainCommand& command) {
  const std::string& strategy = command.flags.train.distribution;
  Tasks tasks;
  if (command.alone && strategy.empty() && !command.ps && !command.workers)
    return {.ps = 0, .workers = 1};
  if (command.flags.train.has_workers_only()) tasks.ps = 0;
  if (strategy == "one_device") tasks.workers = 1;
  const auto take = [&](const char* flag, const std::optional<int>& given, int& count, bool fixed) {
    if (given && fixed)
      throw UsageError(fmt::format("{} is {}, but --strategy={} has {}; omit one of them", flag, *given,
                                   strategy, count));
    count = given.value_or(count);
  };
  take("--ps", command.ps, tasks.ps, tasks.ps == 0);
  take("--workers", command.workers, tasks.workers, strategy == "one_device");
  return tasks;
}

int run_here(const TrainCommand& command) {
  const TrainFlags& flags = command.flags.train;
  const Tasks tasks = tasks_of(command);
  Interrupts interrupts(std::chrono::milliseconds(3000));
  TrainOptions options = flags.options();
  if (tasks.ps == 0) flags.place_variables(options, {"worker"});
  const LabelledData data = flags.load(options, tasks.workers);
  prepare_outputs(options, flags, data, tasks.workers);
  Progress progress(flags.report == "-" ? stderr : stdout);
  auto report = train_locally(tasks.ps, tasks.workers, data, options, interrupts.requested(), &progress,
                              [&](auto end) { interrupts.on_overdue(std::move(end)); });
  if (!report && flags.checkpoint_folder.empty())
    spdlog::warn("interrupted; what was learned is lost, since there is no --checkpoint_dir");
  if (!report) return interrupted_run;
  publish(std::move(*report), options, flags, data, tasks.workers);
  return success;
}

// All tasks in this process, or one task of a cluster.
int run(const TrainCommand& command) {
  if (!command.flags.cluster.name_a_task()) return run_here(command);
  for (const auto& [flag, given] :
       {std::pair("--ps", command.ps), std::pair("--workers", command.workers)})
    if (given)
      throw UsageError(
          fmt::format("{} is for training in one process, but this is a task of a cluster, "
                      "which says how many there are; omit it",
                      flag));
  return run_train_task(command.flags);
}

// A command with these defaults.
void add_data(Command& train, const std::string& name, const std::string& what,
              const TrainFlags& defaults, bool alone = false) {
  auto command =
      std::make_shared<TrainCommand>(TrainCommand{.alone = alone, .flags = {.train = defaults}});
  Command sub = train.command(name, what + "; synchronously without --async");
  const auto add_tasks = [&sub](const char* flag, std::optional<int>& count, const std::string& help) {
    sub.option(flag, count, help).check(in_range(1, 256));
  };
  const char* otherwise = alone ? "; without --ps and --workers one worker alone" : "; without it 2";
  add_tasks("--ps", command->ps, std::string("Parameter servers in this process") + otherwise);
  add_tasks("--workers", command->workers, std::string("Workers in this process") + otherwise);
  command->flags.add_to(sub);
  sub.footer("Models, and what --set may say of each:\n" + describe_models() +
             "\nWhere TF_CONFIG, mpirun, srun, torchrun, or --ps_hosts, --worker_hosts, --job_name and "
             "--task_index, name a task "
             "of a cluster, this is that task.");
  sub.runs([command] { return run(*command); });
}

}  // namespace

void add_train_command(Command& program) {
  Command train =
      program.command("train", "Train a model: all tasks in this process, or one task of a cluster");
  train.runs([]() -> int { throw UsageError("expected what to train; see actorflow help train"); });
  add_data(train, "mnist", "A classifier of handwritten digits", {.sync_by_default = true});
  add_data(train, "digits", "The same of 8x8 pixels: a second of training",
           {.data = "digits", .default_epochs = 20, .sync_by_default = true});
  add_data(train, "cifar10", "A classifier of CIFAR-10's images, whose folder --data names",
           {.data = "cifar10", .default_model = "fast", .sync_by_default = true}, true);
  add_data(train, "shakespeare", "A model that foretells the next character of a text",
           {.data = "shakespeare", .default_model = "transformer", .sync_by_default = true}, true);
  add_data(train, "iris", "A classifier of flowers by four measures, or of another table",
           {.data = "iris", .default_batch_size = 16, .default_epochs = 100, .sync_by_default = true});
}

}  // namespace actorflow
