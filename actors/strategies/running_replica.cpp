#include "actors/strategies/running_replica.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "actors/monitored/hooks.h"
#include "actors/strategies/program_hook.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/values/error.h"

namespace actorflow {

RunningReplica::RunningReplica(Server& server, ReplicaProgram& program, const ReplicaOptions& options,
                               const std::atomic<bool>& interrupted, ElasticTask* elastic)
    : server_(server),
      program_(program),
      options_(options),
      interrupted_(interrupted),
      task_(replica_config(server, options)) {
  graph_.on(device(), [&] { nodes_ = program_.build(graph_, replication()); });
  if (is_all_reduce(options.strategy))
    nodes_.train.local_init =
        copy_state_of_first(graph_, graph_.variables(), task_.replica_names(), task_.replica);
  if (elastic) elastic_.emplace(*elastic, options, server, graph_, task_.replica_names(), task_.replica);
  greeting_ = graph_.on(task_.chief().to_string(), [&] { return graph_.group({}, "greeting"); });
  fetches_ = {nodes_.train.step};
  fetches_.insert(fetches_.end(), nodes_.fetches.begin(), nodes_.fetches.end());
  agreeing_ = nodes_.targets;
  if (nodes_.train.agree) agreeing_.push_back(nodes_.train.agree);
}

// Where a node is placed: variables go to parameter servers, or, with all-reduce, stay here.
DeviceFunction RunningReplica::device() const {
  const std::string own = task_.task.to_string() + device_in_task(options_.device);
  if (!is_all_reduce(options_.strategy)) {
    const int ps_tasks = task_.cluster.num_tasks(options_.ps_job);
    return replica_device_setter(ps_tasks, options_.ps_job, own,
                                 make_ps_strategy(options_.ps_strategy, ps_tasks));
  }
  if (options_.tasks_per_replica != 1)
    throw invalid_argument(
        fmt::format("all-reduce is between replicas of one task each, but tasks_per_replica is {}",
                    options_.tasks_per_replica));
  return [own](const Node&) { return own; };
}

// More gradients than replicas: somebody has to make a second one before the first step can end.
Replication RunningReplica::replication() const {
  Strategy strategy = options_.strategy;
  if (auto* sync = std::get_if<Synchronous>(&strategy))
    sync->initial_tokens = std::max(0, sync->replicas_to_aggregate - task_.num_replicas());
  if (auto* all_reduce = std::get_if<AllReduce>(&strategy)) all_reduce->tasks = task_.replica_names();
  return {.replica = task_.replica,
          .replicas = task_.num_replicas(),
          .strategy = strategy,
          .not_finite = options_.not_finite};
}

MonitoredOptions RunningReplica::monitored() {
  MonitoredOptions options;
  options.is_chief = task_.is_chief();
  options.chief = task_.chief();
  options.replicated = is_all_reduce(options_.strategy);
  options.checkpoint_dir = options_.checkpoint_folder;
  options.strict_restore = options_.strict_restore;
  options.save_checkpoint = options_.save_checkpoint;
  options.max_to_keep = options_.max_to_keep;
  options.longest_hold_ms = options_.longest_hold_ms;
  options.log_step_count_steps = 0;  // programs say more
  options.on_chief_ready = [this] { return compare_settings(); };
  options.hooks = {sync_replicas(nodes_.train),
                   std::make_shared<ProgramHook>(
                       [this](Session& session, std::int64_t step, std::int64_t first_step) {
                         if (task_.is_chief()) compare_settings();
                         program_.count_from(first_step_ = first_step);
                         begin(session, step);
                       },
                       [this] { return program_.next(); }, nodes_.first_step)};
  if (options_.not_finite == NotFinite::fail) options.hooks.push_back(nan_tensor(nodes_.loss));
  options.max_rollbacks = options_.max_rollbacks;
  options.first_step = [this] { return first_step_; };
  if (options_.mark_end)
    options.last_step = options_.train_steps;
  else
    options.hooks.push_back(stop_at_step(options_.train_steps, options.first_step));
  options.max_wait_secs = static_cast<double>(options_.connect_timeout_ms) / 1000;
  options.connect_timeout_ms = options_.connect_timeout_ms;
  program_.prepare(options);
  return options;
}

}  // namespace actorflow
