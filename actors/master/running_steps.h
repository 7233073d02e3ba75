// The steps that a master has under way.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/messages.h"
#include "actors/core/step_tracer.h"
#include "actors/core/task_context.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/guarded_actor.h"

namespace actorflow {

// The part of a step that one task runs, with the task's handle of it.
struct RegisteredPart {
  TaskId task{};
  std::uint64_t incarnation = 0;   // 0 until registered
  std::uint64_t handle = 0;        // 0 until registered
  std::vector<std::int32_t> args;  // the feeds that it takes, by position
  bool begins_ahead = false;       // begins a next step by itself, if it is to (begun_ahead.h)
};
using Parts = std::vector<RegisteredPart>;

// A step whose plan is ready.
struct StepRequest {
  std::string session;
  std::vector<Tensor> feeds;  // in the plan's order
  std::size_t fetches = 0;
  std::int64_t timeout_ms = 0;  // 0 = none
  FencingEpoch epoch = 0;
  bool trace = false;
  bool changes_variables = true;
};

// To itself: time to look for steps whose timeout is over.
struct LookForLateSteps {
  Clock::time_point due;
};

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
  RunningSteps(GuardedActor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

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
  struct Step {
    std::string session;
    std::shared_ptr<const Parts> parts;
    std::vector<bool> done;  // by part
    std::size_t running = 0;
    std::size_t told = 0;  // of a failed step: parts before this one have been told to give up
    Status status;
    bool changes_variables = true;
    std::int64_t timeout_ms = 0;                // 0: none
    Clock::time_point deadline = Clock::never;  // in deadlines_, unless it is never
    std::vector<Tensor> fetches;
    std::unique_ptr<StepTracer> tracer;  // of a traced step
    MasterReplyFn reply;                 // empty as long as no client has asked for the step
  };
  // The kind of a step, and on what state it works.
  struct Kind {
    std::shared_ptr<const Parts> parts;
    FencingEpoch epoch = 0;

    bool operator==(const Kind&) const = default;
  };

  Step make(std::shared_ptr<const Parts> parts, const StepRequest& request) const;
  // Whether the step is the last one that changed variables, once more. If it is another, or not alone,
  // what has been begun for the next one is aborted.
  bool repeats(const Kind& kind, const StepRequest& request);
  // Makes the entry of a new step; takes that of the step that has been begun. Return its number.
  StepId enter(const std::shared_ptr<const Parts>& parts, const StepRequest& request);
  StepId take_ahead();
  // Makes the entry of the step after `id`, if it will be begun before it is asked for.
  void expect_next(StepId id, const std::shared_ptr<const Parts>& parts, const StepRequest& request);
  void run_part(StepId id, const RegisteredPart& part, const StepRequest& request) const;
  void set_deadline(StepId id, Step& step, std::int64_t timeout_ms);
  void forget_deadline(StepId id, Step& step);
  void erase(StepId id);
  // Sees to it that a timer ends at the earliest deadline, or before it.
  void set_timer();
  void give_up_late(StepId id, Step& step);
  void part_done(StepId id, Step& step, std::size_t part, const Status& status);
  // Adds the task to an error, unless it names one already or can only be from this task.
  Status located(const Step& step, std::size_t part, const Status& status) const;
  void abort(StepId id, Step& step, const Status& reason);
  // A part that has failed does not begin the next step.
  void will_not_begin(StepId next, std::size_t part);

  GuardedActor* self_;
  TaskRef task_;
  std::map<StepId, Step> steps_;
  // Of steps under way. No step has a timer of its own: it would outlive the step, with millions of
  // others.
  std::set<std::pair<Clock::time_point, StepId>> deadlines_;
  std::set<Clock::time_point> timers_;  // when those that run will end
  Kind last_;         // of the last step that changes variables
  StepId ahead_ = 0;  // the step that will be begun before it is asked for; 0: none
};

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::LookForLateSteps)
