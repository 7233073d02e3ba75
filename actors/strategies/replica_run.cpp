#include "actors/strategies/replica_run.h"

#include <algorithm>
#include <new>

#include "actors/strategies/elastic_task.h"
#include "actors/strategies/running_replica.h"
#include "dataflow/values/error.h"

namespace actorflow {

bool is_loss(Code code) { return is_derived(code) || code == Code::unavailable; }

Status failure_of(const std::exception& error) {
  if (const auto* known = dynamic_cast<const Error*>(&error)) return known->status();
  if (dynamic_cast<const std::bad_alloc*>(&error)) return {Code::resource_exhausted, "out of memory"};
  return {Code::unknown, error.what()};
}

namespace {

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
    end = RunningReplica(server, program, options, interrupted, elastic).run();
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
