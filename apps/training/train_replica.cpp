#include "apps/training/train_replica.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <variant>

#include "actors/checkpoint/checkpoint.h"
#include "actors/client/dataset_iterator.h"
#include "actors/events/summaries.h"
#include "actors/models/mlp.h"
#include "actors/monitored/hooks.h"
#include "actors/monitored/monitored_session.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/probes/planted_bug.h"
#include "actors/runtime/runtime.h"
#include "apps/training/accuracy.h"
#include "apps/training/gradient_counts.h"
#include "dataflow/cluster/task_config.h"
#include "dataflow/ops/training_ops.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

class Replica {
 public:
  Replica(Server& server, const Mnist& data, const TrainOptions& options,
          const std::atomic<bool>& interrupted, Progress* progress);

  std::optional<TrainReport> run();

 private:
  Strategy strategy() const;
  void build();
  void summarise();
  MonitoredOptions monitored();
  void begin_batches(std::int64_t step);
  HookRef feed_batches();
  void greet_chief(MonitoredSession& session);
  void train(MonitoredSession& session);
  void leave(MonitoredSession& session);
  std::optional<TrainReport> end_as_chief(MonitoredSession& session);
  void end_as_worker(MonitoredSession& session);
  void wait_for_others();
  TrainReport report(MonitoredSession& session);
  bool has_summaries() const { return task_.is_chief() && !options_.summary_folder.empty(); }
  bool is_interrupted() const { return task_.is_chief() && interrupted_; }
  bool is_sync() const { return is_synchronous(options_.strategy); }
  // Every replica makes each step: the step says which batch is next.
  bool is_lockstep() const {
    const auto* sync = std::get_if<Synchronous>(&options_.strategy);
    return sync &&
           (sync->replicas_to_aggregate == 0 || sync->replicas_to_aggregate == task_.num_replicas());
  }
  Storage& storage() const { return server_.runtime()->storage(); }
  std::int64_t batches_per_step() const { return is_sync() ? task_.num_replicas() : 1; }

  Server& server_;
  const Mnist& data_;
  const TrainOptions& options_;
  const std::atomic<bool>& interrupted_;
  Progress* progress_;
  TaskConfig task_;

  Graph graph_;
  Mlp model_;
  Variable global_step_;
  TrainOp train_;
  Summaries summaries_;
  Output greeting_;   // does nothing, on the chief
  Output staleness_;  // float64 [3]: steps, mean, maximum
  std::optional<DatasetIterator> batches_;
  std::int64_t next_step_ = 0;
  std::optional<Meter> meter_;
};

Replica::Replica(Server& server, const Mnist& data, const TrainOptions& options,
                 const std::atomic<bool>& interrupted, Progress* progress)
    : server_(server),
      data_(data),
      options_(options),
      interrupted_(interrupted),
      progress_(progress),
      task_(TaskConfig::make(server.cluster(), server.name())) {
  const int ps_tasks = task_.cluster.num_tasks("ps");
  graph_.on(replica_device_setter(ps_tasks, "ps", task_.task.to_string(),
                                  make_ps_strategy(options.ps_strategy, ps_tasks)),
            [&] { build(); });
}

// More gradients than replicas: somebody has to make a second one before the first step can end.
Strategy Replica::strategy() const {
  Strategy strategy = options_.strategy;
  if (auto* sync = std::get_if<Synchronous>(&strategy))
    sync->initial_tokens = std::max(0, sync->replicas_to_aggregate - task_.num_replicas());
  return strategy;
}

void Replica::build() {
  global_step_ = global_step(graph_);
  model_ = graph_.precision(options_.precision, [&] {
    return make_mlp(graph_, data_.train.pixels(), options_.hidden, data_.train.classes, options_.seed);
  });
  train_ = minimize(graph_, model_.loss, model_.variables, global_step_, options_.optimizer,
                    {.replica = task_.replica,
                     .replicas = task_.num_replicas(),
                     .strategy = strategy(),
                     .not_finite = options_.not_finite});
  staleness_ = graph_.on(global_step_.device(), [&] {
    return graph_.add(staleness_op(), {}, {{"variable", global_step_.name()}});
  });
  if (has_summaries()) summarise();
  greeting_ = graph_.on(task_.chief().to_string(), [&] { return graph_.group({}, "greeting"); });
}

void Replica::summarise() {
  summaries_.scalar("loss", model_.loss);
  summaries_.scalar("accuracy", model_.accuracy);
  for (const auto& variable : model_.variables) summaries_.histogram(variable.name(), variable);
}

MonitoredOptions Replica::monitored() {
  MonitoredOptions options;
  options.is_chief = task_.is_chief();
  options.chief = task_.chief();
  options.checkpoint_dir = options_.checkpoint_folder;
  options.strict_restore = options_.strict_restore;
  options.save_checkpoint = options_.save_checkpoint;
  options.log_step_count_steps = 0;  // `progress` says more
  options.summary_dir = options_.summary_folder;
  options.save_summaries = options_.save_summaries;
  if (has_summaries()) options.summaries = &summaries_;
  options.hooks = {sync_replicas(train_), feed_batches()};
  if (options_.not_finite == NotFinite::fail) options.hooks.push_back(nan_tensor(model_.loss));
  options.max_rollbacks = options_.max_rollbacks;
  if (options_.mark_end)
    options.last_step = options_.train_steps;
  else
    options.hooks.push_back(stop_at_step(options_.train_steps));
  options.max_wait_secs = static_cast<double>(options_.connect_timeout_ms) / 1000;
  options.connect_timeout_ms = options_.connect_timeout_ms;
  return options;
}

// From the replica's batch of this global step on.
void Replica::begin_batches(std::int64_t step) {
  next_step_ = step;
  batches_.emplace(server_, training_batches(data_.train, options_.batch_size, options_.seed)
                                .skip(planted(PlantedBug::wrong_batch) ? 0 : step * batches_per_step())
                                .shard(task_.num_replicas(), task_.replica)
                                .prefetch(1));
}

// The replica's share of the batches, from the one on that is next after a start or a recovery.
HookRef Replica::feed_batches() {
  return feed_fn({.begin =
                      [this](std::int64_t step) {
                        if (!meter_)
                          meter_.emplace(server_.runtime()->clock(), step, options_.train_steps,
                                         options_.batch_size * batches_per_step());
                        begin_batches(step);
                      },
                  .next =
                      [this] {
                        const Tuple batch = batches_->next();
                        return Feeds{{model_.x, batch[0]}, {model_.labels, batch[1]}};
                      }});
}

std::optional<TrainReport> Replica::run() {
  MonitoredSession session(server_, graph_, monitored());
  if (!session.why_over().empty()) return std::nullopt;
  train(session);
  check_not_replaced(server_);
  if (task_.is_chief()) return end_as_chief(session);
  end_as_worker(session);
  return std::nullopt;
}

void Replica::train(MonitoredSession& session) {
  if (!task_.is_chief()) greet_chief(session);
  while (!session.should_stop() && !is_interrupted()) {
    const auto results = session.run({train_.step, model_.loss, model_.accuracy});
    if (results.empty()) break;
    const auto step = results[0].scalar<std::int64_t>();
    // A replica that was behind, so that its gradient did not count, goes on with the others.
    if (++next_step_ != step && is_lockstep()) begin_batches(step);
    meter_->record(step, results[1].scalar<float>(), results[2].scalar<float>());
    if (progress_) progress_->update(*meter_);
  }
  if (train_.leave && !server_.stopping()) leave(session);
  if (progress_) progress_->finish(*meter_);
}

// Nobody waits for this replica any longer; should that fail, its loss says the same.
void Replica::leave(MonitoredSession& session) {
  try {
    session.session().run(std::vector<Output>{}, {}, {train_.leave});
  } catch (const Error& error) {
    if (!is_preemption(error.code())) throw;
  }
}

// Makes a link to the chief, which sees it close if this replica is lost; a chief that is away just now
// does without.
void Replica::greet_chief(MonitoredSession& session) {
  try {
    session.session().run(std::vector<Output>{}, {}, {greeting_}, {.timeout_ms = 1000});
  } catch (const Error& error) {
    if (!server_.stopping())
      spdlog::info("{} does not answer: {}", task_.chief().to_string(), error.what());
  }
}

std::optional<TrainReport> Replica::end_as_chief(MonitoredSession& session) {
  if (is_interrupted()) {
    session.close();
    server_.shutdown_cluster("the chief was interrupted");
    return std::nullopt;
  }
  wait_for_others();
  session.close();
  const TrainReport result = report(session);
  if (options_.mark_end && !options_.checkpoint_folder.empty())
    with_storage_tries(*server_.runtime(), "marking the end of training", [this] {
      mark_complete(storage(), options_.checkpoint_folder,
                    latest_step(storage(), options_.checkpoint_folder).value());
    });
  server_.shutdown_cluster("training is complete");
  return result;
}

// Stays until the job is over; trains on if the chief comes back and has to restore an earlier step.
void Replica::end_as_worker(MonitoredSession& session) {
  constexpr std::int64_t poll_ms = 500;
  do {
    server_.announce_done(task_.chief());
    if (server_.join_for(poll_ms)) break;
    if (session.revive()) train(session);
  } while (session.why_over().empty());
  session.close();
}

void Replica::wait_for_others() {
  const std::vector<TaskName> others(task_.replicas.begin() + 1, task_.replicas.end());
  constexpr std::int64_t patience_ms = 2000;
  for (const auto& missing : server_.wait_until_done(others, patience_ms))
    spdlog::info("waiting for {} to finish its part", missing.to_string());
  for (const auto& missing : server_.wait_until_done(others, options_.connect_timeout_ms))
    spdlog::warn("{} has not finished its part; leaving without it", missing.to_string());
}

TrainReport Replica::report(MonitoredSession& monitored_session) {
  Session& session = monitored_session.session();
  std::map<std::string, Tensor> weights;
  const auto values = session.run({model_.variables.begin(), model_.variables.end()});
  for (std::size_t i = 0; i < values.size(); ++i) weights[model_.variables[i].name()] = values[i];
  const Tensor staleness = session.run(staleness_);
  return {.test_accuracy = score_on(session, model_, data_.test).accuracy,
          .loss = meter_->loss(),
          .global_step = session.run(global_step_).scalar<std::int64_t>(),
          .examples_per_second = meter_->examples_per_second(),
          .train_seconds = meter_->seconds(),
          .mode = is_sync() ? "sync" : "async",
          .staleness_mean = staleness.values<double>()[1],
          .staleness_max = staleness.values<double>()[2],
          .max_lead = train_.max_lead ? session.run(train_.max_lead).scalar<std::int64_t>() : 0,
          .dropped_gradients = dropped_gradients(session, train_, task_.num_replicas()),
          .uneven_updates = uneven_updates(session, train_),
          .weights_hash = hash_of(weights)};
}

}  // namespace

std::int64_t steps_for_epochs(double epochs, std::int64_t examples, const TrainOptions& options,
                              int workers) {
  const auto per_step =
      static_cast<double>(options.batch_size * (is_synchronous(options.strategy) ? workers : 1));
  return std::max<std::int64_t>(1, std::llround(epochs * static_cast<double>(examples) / per_step));
}

std::string serve_parameters(Server& server, const TrainOptions& options) {
  constexpr std::int64_t poll_ms = 1000;
  while (!server.join_for(poll_ms))
    if (is_complete(server.runtime()->storage(), options.checkpoint_folder, options.train_steps))
      return fmt::format("training is complete: {} has reached step {}", options.checkpoint_folder,
                         options.train_steps);
  throw_if_failed(server);
  return server.join();
}

namespace {

bool is_loss(Code code) { return is_derived(code) || code == Code::unavailable; }

// A chief that is started again after the loss of a task finds the others waiting for it; any other failure is
// the end of the job.
void end_job(Server& server, const Status& why, const TrainOptions& options, bool interrupted) {
  if (is_loss(why.code) && options.mark_end) return;
  if (interrupted)
    server.shutdown_cluster("the chief was interrupted");
  else
    server.fail_cluster({why.code, "the chief failed: " + why.message});
}

// What is being handled.
Status failure_of(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return known->status();
  if (dynamic_cast<const std::bad_alloc*>(&error)) return {Code::resource_exhausted, "out of memory"};
  return {Code::unknown, error.what()};
}

}  // namespace

std::optional<TrainReport> train_replica(Server& server, const Mnist& data, const TrainOptions& options,
                                         const std::atomic<bool>& interrupted, Progress* progress) {
  const bool is_chief = TaskConfig::make(server.cluster(), server.name()).is_chief();
  std::optional<TrainReport> report;
  try {
    report = Replica(server, data, options, interrupted, progress).run();
    if (!report && is_chief && interrupted) server.shutdown_cluster("the chief was interrupted");
  } catch (const std::exception& error) {
    check_not_replaced(server);
    const Status why = failure_of(error);
    const bool told_to_leave = is_loss(why.code) && server.stopping();
    if (is_chief) end_job(server, why, options, interrupted);
    server.stop("the replica has failed");
    if (!told_to_leave) throw;
  }
  check_not_replaced(server);
  throw_if_failed(server);
  server.stop("the replica has ended");
  return report;
}

}  // namespace actorflow
