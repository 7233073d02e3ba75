// How a replica ends: as the chief or as another, in a world of an elastic job, or by a failure.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <string>
#include <vector>

#include "actors/checkpoint/folder_epoch.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/running_replica.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Whether another process of this task may do better: after a loss, or on a disk that is mended.
bool may_come_back(Code code) {
  return is_loss(code) || code == Code::deadline_exceeded || code == Code::disk_error ||
         code == Code::permission_denied || code == Code::not_found;
}

// Ends the job for all tasks.
void tell_failure(Server& server, const Status& why) {
  server.fail_cluster({why.code, fmt::format("{} failed: {}", server.name().to_string(), why.message)});
}

}  // namespace

// Whether the failure of a worker does: the others would wait for one without which no step ends. An
// elastic job goes on without it, but what is not finite would be so again.
bool RunningReplica::ends_job(Code code) const {
  if (code == Code::not_finite) return is_synchronous(options_.strategy);
  return !elastic_ && is_lockstep() && !may_come_back(code);
}

// REQUIRES: no other process has taken this task's place: the job is that one's.
void RunningReplica::end_job_of_others(const Status& why) {
  if (!task_.is_chief() && server_.failure().ok() && ends_job(why.code)) tell_failure(server_, why);
}

// The others go on in the next world, with this task or without it.
ReplicaEnd RunningReplica::end_world(MonitoredSession& session) {
  if (!interrupted_) {
    elastic_->keep_state(session);
    return ReplicaEnd::world_over;
  }
  if (task_.is_chief()) end_interrupted(session);
  return ReplicaEnd::interrupted;
}

ReplicaEnd RunningReplica::end_as_chief(MonitoredSession& session) {
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
void RunningReplica::mark_end(MonitoredSession& session) {
  const std::string& folder = options_.checkpoint_folder;
  if (!options_.mark_end || folder.empty()) return;
  Storage& storage = server_.runtime()->storage();
  with_storage_tries(*server_.runtime(), "marking the end of training", [&] {
    check_folder_epoch(storage, folder, session.session().fencing_epoch());
    const std::int64_t made = latest_step(storage, folder).value_or(0) - first_step_;
    mark_complete(storage, folder, std::max(made, options_.train_steps));
  });
}

// What the program throws costs no checkpoint.
void RunningReplica::end_program(MonitoredSession& session) {
  try {
    if (program_.before_last_save(session.session())) session.variables_changed();
  } catch (...) {
    session.close();
    throw;
  }
}

void RunningReplica::end_interrupted(MonitoredSession& session) {
  session.close();  // saves, if there is a folder
  if (session.why_over().empty() && !server_.stopping()) program_.on_interrupt(session.session());
}

// Stays until the job is over; trains on if the chief comes back and has to restore an earlier step.
void RunningReplica::end_as_worker(MonitoredSession& session) {
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

void RunningReplica::wait_for_others() {
  const std::vector<TaskName> others(task_.replicas.begin() + 1, task_.replicas.end());
  constexpr std::int64_t patience_ms = 2000;
  for (const auto& missing : server_.wait_until_done(others, patience_ms))
    spdlog::info("waiting for {} to finish its part", missing.to_string());
  for (const auto& missing : server_.wait_until_done(others, options_.connect_timeout_ms))
    spdlog::warn("{} has not finished its part; leaving without it", missing.to_string());
}

}  // namespace actorflow
