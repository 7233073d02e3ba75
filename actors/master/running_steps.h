// The steps that a master has under way.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/master/running_step.h"
#include "actors/master/step_deadlines.h"
#include "actors/runtime/guarded_actor.h"

namespace actorflow {

// The steps in flight, any number of them. The first error of a step aborts it on every task. The client
// gets the root error: one that is only a consequence (cancelled, aborted) never hides another. Part of
// the master, which forwards the messages about steps.
//
// A client that repeats a step will do so again: the tasks are then told that a next step follows, and
// those that may begin it. Its number is one higher. If the client asks for another step that changes
// variables, or fails, or traces, the next step is aborted, and a new one gets a number of its own: no
// step reads what was there before a change that it should see.
class RunningSteps {
 public:
  RunningSteps(GuardedActor* self, TaskRef task)
      : self_(self), task_(std::move(task)), deadlines_(self) {}

  // REQUIRES: every part is registered. `parts` must not change while a step uses them. Takes `reply`,
  // unless it throws.
  void start(std::shared_ptr<const Parts> parts, StepRequest request, MasterReplyFn& reply);
  void on_done(const Sender& from, StepDone& message);
  // The same for a part whose results were lost here.
  void on_lost(const Sender& from, StepId id, const Status& why);
  void on_timer(const LookForLateSteps& timer);
  void on_peer_lost(const PeerLost& message);
  void abort_session(const std::string& session, const Status& reason);
  bool has_session(const std::string& session) const;
  void abort_all(const Status& reason);
  // Those that clients have asked for.
  std::size_t size() const;

 private:
  // The kind of a step, and on what state it works.
  struct Kind {
    std::shared_ptr<const Parts> parts;
    FencingEpoch epoch = 0;

    bool operator==(const Kind&) const = default;
  };

  // Whether the step is the last one that changed variables, once more. If it is another, or not alone,
  // the step that has been begun ahead is aborted.
  bool is_repeated(const Kind& kind, const StepRequest& request);
  // Makes a new step, of which all parts are untold. Returns its number.
  StepId make(const std::shared_ptr<const Parts>& parts, const StepRequest& request);
  // Makes the step after `id`, if a part can begin it ahead.
  void make_ahead(StepId id, const std::shared_ptr<const Parts>& parts, const StepRequest& request);
  void run_part(StepId id, const RegisteredPart& part, const StepRequest& request) const;
  // Ends a part; then the step, if no other part runs.
  void end_part(StepId id, RunningStep& step, std::size_t part, const Status& status);
  // A part that has failed does not begin the next step.
  void will_not_begin(StepId next, std::size_t part);
  void finish(StepId id, RunningStep& step);
  // Adds the task to an error, unless it names one already or can only be from this task.
  Status located(const RunningStep& step, std::size_t part, const Status& status) const;
  void abort(StepId id, RunningStep& step, const Status& reason);
  void give_up_late(StepId id, RunningStep& step);

  GuardedActor* self_;
  TaskRef task_;
  std::map<StepId, RunningStep> steps_;
  StepDeadlines deadlines_;
  Kind last_change_;             // the last step that changes variables
  std::optional<StepId> ahead_;  // the step that tasks begin before a client asks for it
};

}  // namespace actorflow
