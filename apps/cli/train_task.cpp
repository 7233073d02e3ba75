#include "apps/cli/train_task.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <utility>

#include "actors/checkpoint/start_number.h"
#include "actors/strategies/meeting.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/train_outputs.h"
#include "apps/launch/step_report.h"
#include "apps/training/evaluate.h"
#include "apps/training/train_replica.h"
#include "schema/environment/elastic_link.h"
#include "schema/environment/launched_rank.h"

namespace actorflow {
namespace {

ServerOptions server_options(const TrainTaskFlags& flags, const TaskConfig& config,
                             const TrainOptions& train) {
  ServerOptions options = flags.server.options();
  options.cluster = config.cluster;
  options.job = config.task.job;
  options.task = config.task.index;
  options.connect_timeout_ms = train.connect_timeout_ms;
  if (const auto& folder = train.checkpoint_folder; !folder.empty())
    options.start_number = take_start_number(posix_storage(), folder, config.task);
  return options;
}

// A signal to all tasks reaches this one too: it serves until the chief has saved, or the grace is over.
int serve(Server& server, const TrainOptions& options, const ReplicaSettings& given,
          const Interrupts& interrupts) {
  fmt::print("{}: {}\n", server.name().to_string(), serve_parameters(server, options, given));
  check_not_replaced(server);
  return interrupts.requested() ? interrupted_run : success;
}

// The flags do not fit the cluster: without a word the others would wait for this task.
void tell_contradiction(const TrainTaskFlags& flags, const TaskConfig& config,
                        const TrainOptions& options, const UsageError& error) {
  spdlog::error("{}; tells the other tasks", error.what());
  try {
    Server server(server_options(flags, config, options));
    // A chief that has waited for this server would train on it at once: it asks for its settings first.
    if (config.replica < 0) publish_settings(server, {{"refused", error.what()}});
    tell_refusal(server, config.chief(),
                 {Code::failed_precondition,
                  fmt::format("{} was started with flags that do not fit the cluster: {}",
                              server.name().to_string(), error.what())},
                 std::chrono::milliseconds(options.connect_timeout_ms));
  } catch (const std::exception& failure) {
    spdlog::warn("the other tasks were not told: {}", failure.what());
  }
}

void place_variables(const TrainTaskFlags& flags, const TaskConfig& config, TrainOptions& options) {
  try {
    flags.train.place_variables(options, config.cluster.jobs());
  } catch (const UsageError& error) {
    if (!config.is_evaluator()) tell_contradiction(flags, config, options, error);
    throw;
  }
}

// Where people see the progress. Ranks that mpirun or srun starts share a terminal, on which the chief
// speaks for all; `actorflow launch` says of each line whose it is.
std::FILE* progress_output(const TrainFlags& flags, bool is_chief) {
  const bool has_our_launcher = std::getenv(step_report_variable) != nullptr;
  if (!is_chief && !has_our_launcher && launched_rank()) return nullptr;
  return flags.report == "-" ? stderr : stdout;
}

int work(Server& server, const LabelledData& data, const TrainOptions& options, const TrainFlags& flags,
         const TaskConfig& config, const Interrupts& interrupts) {
  Progress progress(progress_output(flags, config.is_chief()));
  auto report = train_replica(server, data, options, interrupts.requested(), &progress);
  if (!report) return interrupts.requested() ? interrupted_run : success;
  publish(std::move(*report), options, flags, data, config.num_replicas());
  return success;
}

int evaluate(const LabelledData& data, const TrainOptions& options, const Interrupts& interrupts) {
  evaluate_checkpoints(data, options, interrupts.requested());
  return interrupts.requested() ? interrupted_run : success;
}

// A number that the launcher gives.
int number_in(const char* variable) {
  int number = 0;
  check_usage(
      [&] { number = static_cast<int>(number_of_launcher(variable, std::numeric_limits<int>::max())); });
  return number;
}

void prepare(bool is_chief, const TrainOptions& options, const TrainFlags& flags,
             const LabelledData& data, int workers) {
  if (is_chief)
    prepare_outputs(options, flags, data, workers);
  else
    check_checkpoint_folder(options);
}

// Later worlds divide the batches of as many tasks as the job was started with.
int run_elastic_task(const TrainTaskFlags& flags, TrainOptions options, Interrupts& interrupts) {
  const int workers = number_in(elastic_workers_variable);
  flags.train.place_variables(options, {"worker"});
  if (!is_all_reduce(options.strategy))
    throw UsageError(
        "the tasks of an elastic job train synchronously, by the gradients of all; omit --async, "
        "--staleness_bound and --replicas_to_aggregate");
  if (flags.train.sharded_optimizer)
    throw UsageError(
        "--sharded_optimizer gives each task a part of the optimizer's state, which is gone with a lost "
        "task, so it is for jobs whose tasks stay; omit it, or --min and --max");
  if (options.max_rollbacks > 0)
    throw UsageError("--not_finite=roll_back is for jobs whose tasks stay; omit it, or --min and --max");
  const LabelledData data = flags.train.load(options, workers);
  options.global_batch = options.batch_size * workers;
  const bool is_first = number_in(elastic_task_variable) == 0;
  start_task([&] { prepare(is_first, options, flags.train, data, workers); });
  ServerOptions server = flags.server.options();
  server.connect_timeout_ms = options.connect_timeout_ms;
  report_will_step();
  ElasticTask task(std::move(server));
  interrupts.on_overdue([&task] { task.stop("interrupted"); });
  Progress progress(progress_output(flags.train, true));
  auto report = train_elastic(task, data, options, interrupts.requested(), &progress);
  interrupts.on_overdue(nullptr);
  if (report) publish(std::move(*report), options, flags.train, data, workers);
  return success;  // also after an interrupt: the others go on
}

}  // namespace

void TrainTaskFlags::add_to(Command& command) {
  cluster.add_to(command);
  server.add_to(command);
  train.add_to(command);
}

int run_train_task(const TrainTaskFlags& flags) {
  Interrupts interrupts(std::chrono::milliseconds(3000));
  TrainOptions options = flags.train.options();
  options.mark_end = true;
  if (!flags.cluster.are_given() && is_elastic_task())
    return run_elastic_task(flags, std::move(options), interrupts);
  const TaskConfig config = flags.cluster.task(!flags.train.has_workers_only());
  check_usage([&] { config.chief(); });
  place_variables(flags, config, options);
  if (config.is_evaluator() && options.checkpoint_folder.empty())
    throw UsageError("an evaluator needs --checkpoint_dir, the folder that the chief saves to");
  const bool serves = config.replica < 0 && !config.is_evaluator();
  LabelledData data;
  const bool loads = !serves || !options.checkpoint_folder.empty();
  if (loads) data = flags.train.load(options, config.num_replicas());
  if (serves) data = {};  // it only had to know how many steps there are
  if (config.is_evaluator()) return evaluate(data, options, interrupts);
  const ServerOptions of_server = start_task([&] {
    prepare(config.is_chief(), options, flags.train, data, config.num_replicas());
    return server_options(flags, config, options);
  });
  if (!serves) report_will_step();
  Server server(of_server);
  interrupts.on_overdue([&server] { server.stop("interrupted"); });
  const int status = serves ? serve(server, options, flags.train.given(options, loads), interrupts)
                            : work(server, data, options, flags.train, config, interrupts);
  interrupts.on_overdue(nullptr);
  return status;
}

}  // namespace actorflow
