// One task of a training cluster: the same program for every parameter server, worker and evaluator.
//
//   trainer --ps_hosts=h0:2222,h1:2222 --worker_hosts=h2:2222,h3:2222 --job_name=worker --task_index=0
//   TF_CONFIG='{"cluster": {...}, "task": {"type": "evaluator", "index": 0}}' trainer
//   --checkpoint_dir=DIR
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "actors/checkpoint/start_number.h"
#include "apps/cli/cluster_flags.h"
#include "apps/cli/interrupts.h"
#include "apps/cli/program.h"
#include "apps/cli/security_flags.h"
#include "apps/cli/train_flags.h"
#include "apps/training/evaluate.h"
#include "apps/training/train_replica.h"

namespace actorflow {
namespace {

struct TrainerFlags {
  ClusterFlags cluster;
  bool sync_replicas = false;
  std::string credentials;
  bool insecure = false;
  int threads = 0;
  std::size_t max_incoming_bytes = default_max_incoming_bytes;
  double heartbeat_timeout_s = 5;
  TrainFlags train;

  void add_to(CLI::App& app) {
    cluster.add_to(app);
    app.add_flag(
        both_spellings("sync_replicas"), sync_replicas,
        "Average the workers' gradients for each step; without it they are applied as they come");
    add_security(app, credentials, insecure);
    app.add_option("--threads", threads,
                   "Threads that compute; 0 = one per core. Fewer where several tasks share a machine")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option(both_spellings("max_incoming_bytes"), max_incoming_bytes,
                   "Memory for large tensors of one other task, for example 16GiB")
        ->transform(CLI::AsSizeValue(false))
        ->capture_default_str();
    app.add_option(both_spellings("heartbeat_timeout"), heartbeat_timeout_s,
                   "Seconds of silence after which a connected task counts as lost; 0 = never")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    train.add_to(app);
  }

  ServerOptions server(const TaskConfig& config, const TrainOptions& train_options) const {
    ServerOptions options;
    options.cluster = config.cluster;
    options.job = config.task.job;
    options.task = config.task.index;
    options.connect_timeout_ms = train_options.connect_timeout_ms;
    options.heartbeat_timeout_ms = std::llround(heartbeat_timeout_s * 1000);
    options.credentials = credentials;
    options.insecure = insecure;
    options.num_threads = threads;
    options.max_incoming_bytes = max_incoming_bytes;
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

int work(Server& server, const Mnist& data, const TrainOptions& options, const TrainFlags& flags,
         const Interrupts& interrupts) {
  Progress progress(flags.report == "-" ? stderr : stdout);
  const auto report = train_replica(server, data, options, interrupts.requested(), &progress);
  if (report) publish(*report, flags);
  return interrupts.requested() && !report ? interrupted_run : success;
}

int evaluate(const Mnist& data, const TrainOptions& options, const Interrupts& interrupts) {
  evaluate_checkpoints(data, options, interrupts.requested());
  return interrupts.requested() ? interrupted_run : success;
}

int run(const TrainerFlags& flags) {
  Interrupts interrupts(std::chrono::milliseconds(3000));
  TrainOptions options = flags.train.options(flags.sync_replicas);
  options.mark_end = true;
  const TaskConfig config = flags.cluster.task();
  check_usage([&] { config.chief(); });
  if (config.is_evaluator() && options.checkpoint_folder.empty())
    throw UsageError("an evaluator needs --checkpoint_dir, the folder that the chief saves to");
  const bool serves = config.replica < 0 && !config.is_evaluator();
  Mnist data;
  if (!serves || !options.checkpoint_folder.empty())
    data = flags.train.load(options, config.num_replicas());
  if (serves) data = {};  // it only had to know how many steps there are
  if (config.is_evaluator()) return evaluate(data, options, interrupts);
  check_checkpoint_folder(options);
  Server server(flags.server(config, options));
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
  CLI::App app("Train on MNIST as one task of a cluster of parameter servers and workers", "trainer");
  TrainerFlags flags;
  flags.add_to(app);
  return run_program(app, argc, argv, [&] { return run(flags); });
}
