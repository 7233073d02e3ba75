#include "actors/strategies/replica_run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "actors/checkpoint/folder_epoch.h"
#include "actors/monitored/hooks.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/elastic_replica.h"
#include "actors/strategies/meeting.h"
#include "actors/strategies/program_hook.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

class Replica {
 public:
  Replica(Server& server, ReplicaProgram& program, const ReplicaOptions& options,
          const std::atomic<bool>& interrupted, ElasticTask* elastic);

  ReplicaEnd run();

 private:
  DeviceFunction device() const;
  Replication replication() const;
  MonitoredOptions monitored();
  ReplicaSettings settings() const;
  ReplicaEnd run_session();
  void compare_settings();
  std::vector<TaskName> servers() const;
  void blame_settings(const Error& error);
  bool ends_job(Code code) const;
  void end_job_of_others(const Status& why);
  void greet_chief(MonitoredSession& session);
  void train(MonitoredSession& session);
  void step(StepContext& context);
  void make_step(StepContext& context);
  void begin(Session& session, std::int64_t step);
  void leave(MonitoredSession& session);
  ReplicaEnd end_world(MonitoredSession& session);
  ReplicaEnd end_as_chief(MonitoredSession& session);
  void end_program(MonitoredSession& session);
  void mark_end(MonitoredSession& session);
  void end_interrupted(MonitoredSession& session);
  void end_as_worker(MonitoredSession& session);
  void wait_for_others();
  bool is_interrupted() const { return task_.is_chief() && interrupted_ && !elastic_; }
  // Every replica makes each step: the step says which batch is next.
  bool is_lockstep() const {
    if (is_all_reduce(options_.strategy)) return true;
    const auto* sync = std::get_if<Synchronous>(&options_.strategy);
    return sync &&
           (sync->replicas_to_aggregate == 0 || sync->replicas_to_aggregate == task_.num_replicas());
  }
  // Whether the replicas agree after the step with this number (AllReduce::local_steps).
  bool agrees_after(std::int64_t step) const {
    return nodes_.train.agree &&
           (is_agreement(std::get<AllReduce>(options_.strategy), step - first_step_,
                         options_.train_steps) ||
            program_.ends_round(step));
  }
  bool is_last(std::int64_t step) const { return step - first_step_ >= options_.train_steps; }
  Storage& storage() const { return server_.runtime()->storage(); }

  Server& server_;
  ReplicaProgram& program_;
  const ReplicaOptions& options_;
  const std::atomic<bool>& interrupted_;
  TaskConfig task_;

  Graph graph_;
  ReplicaNodes nodes_;
  std::vector<Output> fetches_;   // the global step, then those of the program
  std::vector<Output> agreeing_;  // the targets of a step after which the replicas agree
  Output greeting_;               // does nothing, on the chief
  Session* session_ = nullptr;    // of the present step
  std::int64_t next_step_ = 0;
  std::int64_t first_step_ = 0;
  bool ended_early_ = false;
  std::optional<ElasticReplica> elastic_;
  bool world_over_ = false;
  bool trains_ = false;  // has made a step
};

bool is_loss(Code code) { return is_derived(code) || code == Code::unavailable; }

// Whether another process of this task may do better: after a loss, or on a disk that is mended.
bool may_come_back(Code code) {
  return is_loss(code) || code == Code::deadline_exceeded || code == Code::disk_error ||
         code == Code::permission_denied || code == Code::not_found;
}

// What is being handled.
Status failure_of(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return known->status();
  if (dynamic_cast<const std::bad_alloc*>(&error)) return {Code::resource_exhausted, "out of memory"};
  return {Code::unknown, error.what()};
}

// Ends the job for all tasks.
void tell_failure(Server& server, const Status& why) {
  server.fail_cluster({why.code, fmt::format("{} failed: {}", server.name().to_string(), why.message)});
}

Replica::Replica(Server& server, ReplicaProgram& program, const ReplicaOptions& options,
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
DeviceFunction Replica::device() const {
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
Replication Replica::replication() const {
  Strategy strategy = options_.strategy;
  if (auto* sync = std::get_if<Synchronous>(&strategy))
    sync->initial_tokens = std::max(0, sync->replicas_to_aggregate - task_.num_replicas());
  if (auto* all_reduce = std::get_if<AllReduce>(&strategy)) all_reduce->tasks = task_.replica_names();
  return {.replica = task_.replica,
          .replicas = task_.num_replicas(),
          .strategy = strategy,
          .not_finite = options_.not_finite};
}

MonitoredOptions Replica::monitored() {
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
  options.hooks = {sync_replicas(nodes_.train), std::make_shared<ProgramHook>(
                                                    [this](Session& session, std::int64_t step,
                                                           std::int64_t first_step) {
                                                      compare_settings();
                                                      program_.count_from(first_step_ = first_step);
                                                      begin(session, step);
                                                    },
                                                    [this] { return program_.next(); },
                                                    nodes_.first_step)};
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

ReplicaSettings Replica::settings() const {
  ReplicaSettings settings = program_.settings();
  const ReplicaSettings of_options = settings_of(options_);
  settings.insert(settings.end(), of_options.begin(), of_options.end());
  return settings;
}

// In each new session, before its first step.
void Replica::compare_settings() {
  if (!task_.is_chief())
    expect_settings_of(server_, task_.chief(), settings());
  else if (!trains_)
    expect_servers_agree(server_, servers(), settings());
}

// The tasks that are no replicas: parameter servers, and the others of each group.
std::vector<TaskName> Replica::servers() const {
  const auto trainers = TaskConfig::make(server_.cluster(), server_.name()).replicas;
  std::vector<TaskName> serving = server_.cluster().all_tasks();
  std::erase_if(serving, [&](const TaskName& task) {
    const bool has_part = task.job == options_.ps_job || std::ranges::count(trainers, task) > 0;
    return !has_part || std::ranges::count(task_.replicas, task) > 0;
  });
  return serving;
}

ReplicaEnd Replica::run() {
  publish_settings(server_, settings());
  // Whoever comes to the next world of an elastic job must not end it.
  if (elastic_) note_training(server_);
  try {
    return run_session();
  } catch (const std::exception& error) {
    check_not_replaced(server_);
    if (const auto* known = dynamic_cast<const Error*>(&error)) blame_settings(*known);
    end_job_of_others(failure_of(error));
    throw;
  }
}

// What tasks have set otherwise may be the cause, which the error does not know. Throws it then.
void Replica::blame_settings(const Error& error) {
  if (!task_.is_chief()) {
    expect_settings_of(server_, task_.chief(), settings());
    return;
  }
  if (is_loss(error.code()) || !server_.failure().ok()) return;
  expect_same_settings(server_, task_.replicas, settings());
  throw_if_failed(server_);  // who was refused has told it before it left
}

// Whether the failure of a worker does: the others would wait for one without which no step ends. An
// elastic job goes on without it, but what is not finite would be so again.
bool Replica::ends_job(Code code) const {
  if (code == Code::not_finite) return is_synchronous(options_.strategy);
  return !elastic_ && is_lockstep() && !may_come_back(code);
}

// REQUIRES: no other process has taken this task's place: the job is that one's.
void Replica::end_job_of_others(const Status& why) {
  if (!task_.is_chief() && server_.failure().ok() && ends_job(why.code)) tell_failure(server_, why);
}

ReplicaEnd Replica::run_session() {
  MonitoredOptions options = monitored();
  options.has_values = elastic_ && elastic_->give_state();
  MonitoredSession session(server_, graph_, std::move(options));
  if (elastic_ && !elastic_->begin_steps()) return end_world(session);
  if (!session.why_over().empty()) {
    // Who has not heard of a failure yet must not take it for a good end.
    if (task_.is_chief() && !elastic_) throw_if_failed(server_);
    // The others may wait for it: the chief that was here before may have been lost before it told them.
    if (task_.is_chief() && !(elastic_ && interrupted_)) server_.shutdown_cluster(session.why_over());
    return ReplicaEnd::left;
  }
  train(session);
  check_not_replaced(server_);
  if (elastic_ && (world_over_ || interrupted_)) return end_world(session);
  if (task_.is_chief()) return end_as_chief(session);
  end_as_worker(session);
  if (elastic_ && elastic_->is_over()) return end_world(session);
  return ReplicaEnd::left;
}

// The others go on in the next world, with this task or without it.
ReplicaEnd Replica::end_world(MonitoredSession& session) {
  if (!interrupted_) {
    elastic_->keep_state(session);
    return ReplicaEnd::world_over;
  }
  if (task_.is_chief()) end_interrupted(session);
  return ReplicaEnd::interrupted;
}

void Replica::train(MonitoredSession& session) {
  if (!task_.is_chief()) greet_chief(session);
  while (!session.should_stop() && !is_interrupted() && !ended_early_ && !world_over_) {
    if (!session.run_step([this](StepContext& context) { step(context); })) break;
  }
  if (world_over_) return;
  if (!session.why_over().empty()) return;  // heard while it had no session
  if (nodes_.train.leave && !server_.stopping()) leave(session);
  program_.on_last_step(session.session());
}

void Replica::step(StepContext& context) {
  if (!elastic_) return make_step(context);
  const bool made = elastic_->survives([&] {
    make_step(context);
    const bool together = !nodes_.train.agree || agrees_after(next_step_);
    if (together && !is_last(next_step_) && !ended_early_)
      world_over_ = elastic_->all_leave(context.session(), next_step_, interrupted_);
  });
  world_over_ = world_over_ || !made;
}

void Replica::make_step(StepContext& context) {
  if (!program_.before_step(context.session()) && task_.is_chief()) {
    ended_early_ = true;
    return;
  }
  const auto results =
      context.run(fetches_, {}, agrees_after(next_step_ + 1) ? agreeing_ : nodes_.targets);
  if (!std::exchange(trains_, true) && task_.is_chief() && !elastic_) note_training(server_);
  const auto step = results[0].scalar<std::int64_t>();
  // A replica that was behind, so that its gradient did not count, goes on with the others.
  if (++next_step_ != step && is_lockstep()) begin(context.session(), step);
  const bool goes_on = program_.after_step(context.session(), step, std::span(results).subspan(1));
  ended_early_ = task_.is_chief() && !goes_on;
}

void Replica::begin(Session& session, std::int64_t step) {
  next_step_ = step;
  program_.begin(session, step);
}

// Nobody waits for this replica any longer; should that fail, its loss says the same.
void Replica::leave(MonitoredSession& session) {
  try {
    session.session().run(std::vector<Output>{}, {}, {nodes_.train.leave});
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

ReplicaEnd Replica::end_as_chief(MonitoredSession& session) {
  if (is_interrupted() && !is_last(next_step_) && !ended_early_) {
    end_interrupted(session);
    server_.shutdown_cluster("the chief was interrupted");
    return ReplicaEnd::interrupted;
  }
  if (!ended_early_) wait_for_others();
  end_program(session);
  session.close();
  program_.finish(session.session());
  mark_end(session);
  server_.shutdown_cluster("training is complete");
  return ReplicaEnd::complete;
}

// For those who asked for as many steps, also where the program or its input has ended training early:
// another chief would go on from there. One who was stopped here, and replaced, marks nothing.
void Replica::mark_end(MonitoredSession& session) {
  const std::string& folder = options_.checkpoint_folder;
  if (!options_.mark_end || folder.empty()) return;
  with_storage_tries(*server_.runtime(), "marking the end of training", [&] {
    check_folder_epoch(storage(), folder, session.session().fencing_epoch());
    const std::int64_t made = latest_step(storage(), folder).value_or(0) - first_step_;
    mark_complete(storage(), folder, std::max(made, options_.train_steps));
  });
}

// What the program throws costs no checkpoint.
void Replica::end_program(MonitoredSession& session) {
  try {
    if (program_.before_last_save(session.session())) session.variables_changed();
  } catch (...) {
    session.close();
    throw;
  }
}

void Replica::end_interrupted(MonitoredSession& session) {
  session.close();  // saves, if there is a folder
  if (session.why_over().empty() && !server_.stopping()) program_.on_interrupt(session.session());
}

// Stays until the job is over; trains on if the chief comes back and has to restore an earlier step.
void Replica::end_as_worker(MonitoredSession& session) {
  constexpr std::int64_t poll_ms = 500;
  if (elastic_) elastic_->end_steps();
  int polls = 0;
  do {
    server_.announce_done(task_.chief());
    if (server_.join_for(poll_ms)) break;
    if (++polls % 20 == 4)  // after 2 s, and then every 10 s
      spdlog::info("{} has finished its part, and waits for {} to end the job",
                   server_.name().to_string(), task_.chief().to_string());
    if (elastic_ || !session.revive()) continue;
    train(session);
    polls = 0;
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

// A chief that is started again after the loss of a task finds the others waiting for it; any other
// failure is the end of the job.
void end_job(Server& server, const Status& why, const ReplicaOptions& options, bool interrupted) {
  if (is_loss(why.code) && options.mark_end) return;
  if (interrupted)
    server.shutdown_cluster("the chief was interrupted");
  else
    server.fail_cluster({why.code, "the chief failed: " + why.message});
}

}  // namespace

TaskConfig replica_config(const Server& server, const ReplicaOptions& options) {
  return TaskConfig::make(server.cluster(), server.name()).grouped(options.tasks_per_replica);
}

ReplicaEnd run_replica(Server& server, ReplicaProgram& program, const ReplicaOptions& options,
                       const std::atomic<bool>& interrupted, ElasticTask* elastic) {
  const bool is_chief = replica_config(server, options).is_chief();
  ReplicaEnd end = ReplicaEnd::left;
  try {
    end = Replica(server, program, options, interrupted, elastic).run();
    if (end == ReplicaEnd::left && is_chief && interrupted && !elastic)
      server.shutdown_cluster("the chief was interrupted");
  } catch (const std::exception& error) {
    check_not_replaced(server);
    const Status why = failure_of(error);
    const bool told_to_leave = is_loss(why.code) && server.stopping();
    // What was cancelled then does not matter: the task has kept the state of before.
    const bool world_is_over = elastic && !interrupted && elastic->link().is_over() && is_loss(why.code);
    if (is_chief && !world_is_over) end_job(server, why, options, interrupted && !elastic);
    server.stop("the replica has failed");
    if (world_is_over) return ReplicaEnd::world_over;
    if (!told_to_leave) throw;
  }
  check_not_replaced(server);
  throw_if_failed(server);
  server.stop("the replica has ended");
  return end;
}

}  // namespace actorflow
