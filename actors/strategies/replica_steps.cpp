// A replica's session and its steps.
#include <span>
#include <utility>
#include <vector>

#include "actors/strategies/meeting.h"
#include "actors/strategies/running_replica.h"
#include "dataflow/values/error.h"

namespace actorflow {

ReplicaEnd RunningReplica::run() {
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

ReplicaEnd RunningReplica::run_session() {
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

void RunningReplica::train(MonitoredSession& session) {
  if (!task_.is_chief()) greet_chief(session);
  while (!session.should_stop() && !is_interrupted() && !ended_early_ && !world_over_) {
    if (!session.run_step([this](StepContext& context) { step(context); })) break;
  }
  if (world_over_) return;
  if (!session.why_over().empty()) return;  // heard while it had no session
  if (nodes_.train.leave && !server_.stopping()) leave(session);
  program_.on_last_step(session.session());
}

void RunningReplica::step(StepContext& context) {
  if (!elastic_) return make_step(context);
  const bool made = elastic_->survives([&] {
    make_step(context);
    const bool together = !nodes_.train.agree || agrees_after(next_step_);
    if (together && !is_last(next_step_) && !ended_early_)
      world_over_ = elastic_->all_leave(context.session(), next_step_, interrupted_);
  });
  world_over_ = world_over_ || !made;
}

void RunningReplica::make_step(StepContext& context) {
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

void RunningReplica::begin(Session& session, std::int64_t step) {
  next_step_ = step;
  program_.begin(session, step);
}

// Nobody waits for this replica any longer; should that fail, its loss says the same.
void RunningReplica::leave(MonitoredSession& session) {
  try {
    session.session().run(std::vector<Output>{}, {}, {nodes_.train.leave});
  } catch (const Error& error) {
    if (!is_preemption(error.code())) throw;
  }
}

}  // namespace actorflow
