#include "apps/cli/train_task.h"

#include <fmt/format.h>

#include <chrono>

#include "actors/checkpoint/start_number.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/train_outputs.h"
#include "apps/launch/step_report.h"
#include "apps/training/evaluate.h"
#include "apps/training/train_replica.h"

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
int serve(Server& server, const TrainOptions& options, const Interrupts& interrupts) {
  fmt::print("{}: {}\n", server.name().to_string(), serve_parameters(server, options));
  check_not_replaced(server);
  return interrupts.requested() ? interrupted_run : success;
}

int work(Server& server, const LabelledData& data, const TrainOptions& options, const TrainFlags& flags,
         const Interrupts& interrupts) {
  Progress progress(flags.report == "-" ? stderr : stdout);
  const auto report = train_replica(server, data, options, interrupts.requested(), &progress);
  if (report) publish(*report, flags);
  return interrupts.requested() && !report ? interrupted_run : success;
}

int evaluate(const LabelledData& data, const TrainOptions& options, const Interrupts& interrupts) {
  evaluate_checkpoints(data, options, interrupts.requested());
  return interrupts.requested() ? interrupted_run : success;
}

}  // namespace

void TrainTaskFlags::add_to(CLI::App& app) {
  cluster.add_to(app);
  server.add_to(app);
  train.add_to(app);
}

int run_train_task(const TrainTaskFlags& flags) {
  Interrupts interrupts(std::chrono::milliseconds(3000));
  TrainOptions options = flags.train.options();
  options.mark_end = true;
  const TaskConfig config = flags.cluster.task();
  check_usage([&] { config.chief(); });
  flags.train.place_variables(options, config.cluster.jobs());
  if (config.is_evaluator() && options.checkpoint_folder.empty())
    throw UsageError("an evaluator needs --checkpoint_dir, the folder that the chief saves to");
  const bool serves = config.replica < 0 && !config.is_evaluator();
  LabelledData data;
  if (!serves || !options.checkpoint_folder.empty())
    data = flags.train.load(options, config.num_replicas());
  if (serves) data = {};  // it only had to know how many steps there are
  if (config.is_evaluator()) return evaluate(data, options, interrupts);
  config.is_chief() ? prepare_outputs(options, flags.train, data, config.num_replicas())
                    : check_checkpoint_folder(options);
  if (!serves) report_will_step();
  Server server(server_options(flags, config, options));
  interrupts.on_overdue([&server] { server.stop("interrupted"); });
  const int status =
      serves ? serve(server, options, interrupts) : work(server, data, options, flags.train, interrupts);
  interrupts.on_overdue(nullptr);
  return status;
}

}  // namespace actorflow
