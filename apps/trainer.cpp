// One task of a training cluster: the same program for every parameter server, worker and evaluator.
//
//   trainer --ps_hosts=h0:2222,h1:2222 --worker_hosts=h2:2222,h3:2222 --job_name=worker --task_index=0
//   TF_CONFIG='{"cluster": {...}, "task": {"type": "evaluator", "index": 0}}' trainer
//   --checkpoint_dir=DIR
#include <fmt/format.h>

#include <chrono>

#include "actors/checkpoint/start_number.h"
#include "apps/cli/cluster_flags.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/server_flags.h"
#include "apps/cli/train_flags.h"
#include "apps/training/evaluate.h"
#include "apps/training/train_replica.h"

namespace actorflow {
namespace {

struct TrainerFlags {
  ClusterFlags cluster;
  ServerFlags server;
  TrainFlags train;

  void add_to(CLI::App& app) {
    cluster.add_to(app);
    server.add_to(app);
    train.add_to(app);
  }

  ServerOptions server_options(const TaskConfig& config, const TrainOptions& train_options) const {
    ServerOptions options = server.options();
    options.cluster = config.cluster;
    options.job = config.task.job;
    options.task = config.task.index;
    options.connect_timeout_ms = train_options.connect_timeout_ms;
    if (const auto& folder = train_options.checkpoint_folder; !folder.empty())
      options.start_number = take_start_number(posix_storage(), folder, config.task);
    return options;
  }
};

// A signal to all tasks reaches this one too: it serves until the chief has saved, or the grace is over.
int serve(Server& server, const TrainOptions& options, const Interrupts& interrupts) {
  fmt::print("{}: {}\n", server.name().to_string(), serve_parameters(server, options));
  check_not_replaced(server);
  return interrupts.requested() ? interrupted_run : success;
}

int work(Server& server, const ImageData& data, const TrainOptions& options, const TrainFlags& flags,
         const Interrupts& interrupts) {
  Progress progress(flags.report == "-" ? stderr : stdout);
  const auto report = train_replica(server, data, options, interrupts.requested(), &progress);
  if (report) publish(*report, flags);
  return interrupts.requested() && !report ? interrupted_run : success;
}

int evaluate(const ImageData& data, const TrainOptions& options, const Interrupts& interrupts) {
  evaluate_checkpoints(data, options, interrupts.requested());
  return interrupts.requested() ? interrupted_run : success;
}

int run(const TrainerFlags& flags) {
  Interrupts interrupts(std::chrono::milliseconds(3000));
  TrainOptions options = flags.train.options();
  options.mark_end = true;
  const TaskConfig config = flags.cluster.task();
  check_usage([&] { config.chief(); });
  if (config.is_evaluator() && options.checkpoint_folder.empty())
    throw UsageError("an evaluator needs --checkpoint_dir, the folder that the chief saves to");
  const bool serves = config.replica < 0 && !config.is_evaluator();
  ImageData data;
  if (!serves || !options.checkpoint_folder.empty())
    data = flags.train.load(options, config.num_replicas());
  if (serves) data = {};  // it only had to know how many steps there are
  if (config.is_evaluator()) return evaluate(data, options, interrupts);
  config.is_chief() ? check_outputs(options, flags.train) : check_checkpoint_folder(options);
  Server server(flags.server_options(config, options));
  interrupts.on_overdue([&server] { server.stop("interrupted"); });
  const int status =
      serves ? serve(server, options, interrupts) : work(server, data, options, flags.train, interrupts);
  interrupts.on_overdue(nullptr);
  return status;
}

}  // namespace
}  // namespace actorflow

int main(int argc, char** argv) {
  using namespace actorflow;
  CLI::App app(
      "Train a classifier of images as one task of a cluster of parameter servers and workers; "
      "asynchronously without "
      "--sync_replicas",
      "trainer");
  TrainerFlags flags;
  flags.add_to(app);
  return run_program(app, argc, argv, [&] { return run(flags); });
}
