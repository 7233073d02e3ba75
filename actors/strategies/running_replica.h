// A replica that trains: its graph, its session, its steps, and how it ends. For run_replica() only.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <variant>
#include <vector>

#include "actors/strategies/elastic_replica.h"
#include "actors/strategies/replica_run.h"

namespace actorflow {

// Whether a task was lost, or something failed that follows from such a loss.
bool is_loss(Code code);

// The status of an Error as it is; unknown for other exceptions, but for a lack of memory.
Status failure_of(const std::exception& error);

// Not thread-safe. REQUIRES: all that it is given outlives it.
class RunningReplica {
 public:
  RunningReplica(Server& server, ReplicaProgram& program, const ReplicaOptions& options,
                 const std::atomic<bool>& interrupted, ElasticTask* elastic);

  // Throws as run_replica() does; the tasks that would wait for this one know why then.
  ReplicaEnd run();

 private:
  // running_replica.cpp
  DeviceFunction device() const;
  Replication replication() const;
  MonitoredOptions monitored();

  // replica_meeting.cpp
  ReplicaSettings settings() const;
  bool compare_settings();
  std::vector<TaskName> servers() const;
  void blame_settings(const Error& error);
  void greet_chief(MonitoredSession& session);

  // replica_steps.cpp
  ReplicaEnd run_session();
  void train(MonitoredSession& session);
  void step(StepContext& context);
  void make_step(StepContext& context);
  void begin(Session& session, std::int64_t step);
  void leave(MonitoredSession& session);

  // replica_end.cpp
  bool ends_job(Code code) const;
  void end_job_of_others(const Status& why);
  ReplicaEnd end_world(MonitoredSession& session);
  ReplicaEnd end_as_chief(MonitoredSession& session);
  void mark_end(MonitoredSession& session);
  void end_program(MonitoredSession& session);
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
    return nodes_.train.agree && (is_agreement(std::get<AllReduce>(options_.strategy),
                                               step - first_step_, options_.train_steps) ||
                                  program_.ends_round(step));
  }
  bool is_last(std::int64_t step) const { return step - first_step_ >= options_.train_steps; }

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
  std::int64_t next_step_ = 0;
  std::int64_t first_step_ = 0;
  bool ended_early_ = false;
  std::optional<ElasticReplica> elastic_;
  bool world_over_ = false;
  bool trains_ = false;  // has made a step
};

}  // namespace actorflow
