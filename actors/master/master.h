// The master of a task, which answers clients. planner.h plans their steps, running_steps.h runs them.
#pragma once

#include <caf/stateful_actor.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/master/inquiries.h"
#include "actors/master/master_session.h"
#include "actors/master/planner.h"
#include "actors/master/running_steps.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// To itself: the plan of a step is not ready within the step's timeout.
struct PlanTimeout {
  std::weak_ptr<Plan> plan;
  std::uint64_t ticket = 0;
  std::int64_t timeout_ms = 0;
};

// The next step replaces a plan whose task is lost. If the task has come back as another incarnation,
// without its variables, the session's steps that need it fail as aborted: the client must check the
// state with a new session.
class Master {
 public:
  Master(GuardedActor* self, TaskRef task)
      : self_(self), task_(task), planner_(task), steps_(self, std::move(task)) {}

  caf::behavior behavior();
  void refuse(const MasterCall& call, Status why);
  void refuse(const Sender& from, const StepDone& message, const Status& why) {
    steps_.on_lost(from, message.step, why);
    end_closed_sessions();
  }

 private:
  // Requests. Each is answered once, now or later, or throws.
  void on_call(MasterCall& call);
  void create_session(CreateSession& request, const MasterReplyFn& reply);
  void extend_session(ExtendSession& request, const MasterReplyFn& reply);
  void run_step(RunStep& request, MasterReplyFn& reply);
  void make_callable(MakeCallable& request, const MasterReplyFn& reply);
  void run_callable(RunCallable& request, MasterReplyFn& reply);
  void release_callable(const ReleaseCallable& request, const MasterReplyFn& reply);
  void close_session(const CloseSession& request, const MasterReplyFn& reply);
  void list_devices(const ListDevices& request, const MasterReplyFn& reply);
  void describe_placement(const DescribePlacement& request, const MasterReplyFn& reply);
  void reset(const Reset& request, const MasterReplyFn& reply);

  // The session with that handle. Throws aborted if there is none.
  MasterSession& session(const std::string& handle);
  PlanRef plan_of(MasterSession& session, const std::string& signature, const StepKind& kind);
  // Starts the step when its plan is ready.
  void run(MasterSession& session, const PlanRef& plan, StepRequest request, MasterReplyFn& reply);
  void start(MasterSession& session, const Plan& plan, StepRequest request, MasterReplyFn& reply);
  // Ends the session; calls `done` when nothing of it is left on any task.
  void end_session(const std::string& handle, const Status& reason, std::function<void()> done);
  void end_closed_sessions();
  void stop_steps(const Status& reason);
  void on_peer_lost(const PeerLost& message);
  HeldState census();

  // A closed session whose steps have not all ended.
  struct Closing {
    std::string handle;
    std::set<TaskId> tasks;  // that may have variables of the isolated session
    std::function<void()> done;
  };

  GuardedActor* self_;
  TaskRef task_;
  Planner planner_;
  RunningSteps steps_;
  Inquiries clearing_;
  std::map<std::string, MasterSession> sessions_;
  std::vector<Closing> closing_;
};

using MasterActor = caf::stateful_actor<std::unique_ptr<Master>, LightActor>;
caf::behavior master_actor(MasterActor* self, TaskRef task);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::PlanTimeout)
