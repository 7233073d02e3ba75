// The master of a task: it holds sessions, plans their steps once, and runs them on the workers.
#pragma once

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/messages.h"
#include "actors/placement.h"
#include "actors/step_plan.h"
#include "actors/task_context.h"

namespace actorflow {

// Any number of steps are in flight. The first error of a step aborts it on every task; the client gets
// the root error: one that only reports a consequence (cancelled, aborted) never hides another. A plan
// whose task is lost is made anew by the next step.
class Master {
 public:
  Master(caf::event_based_actor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

  caf::behavior behavior();

 private:
  struct Part {
    TaskId task{};
    std::uint64_t handle = 0;  // 0 until registered
    std::vector<std::int32_t> args;
  };
  struct Plan {
    std::vector<Part> parts;
    std::size_t unregistered = 0;
    bool dropped = false;                                    // no step will start on it any more
    std::vector<std::pair<RunStep, MasterReplyFn>> waiting;  // until every part is registered
  };
  using PlanRef = std::shared_ptr<Plan>;
  struct Session {
    GraphDef graph;
    std::unordered_map<std::string, PlanRef> plans;  // by signature
  };
  struct Registration {
    std::string session, signature;
    PlanRef plan;
    std::size_t part = 0;
  };
  struct Step {
    std::string session;
    PlanRef plan;
    std::vector<bool> done;  // by part
    std::size_t running = 0;
    Status status;
    std::vector<Tensor> fetches;
    MasterReplyFn reply;
  };

  void on_call(MasterCall& call);
  void create_session(CreateSession& request, const MasterReplyFn& reply);
  void run_step(RunStep& request, MasterReplyFn& reply);
  void close_session(const CloseSession& request, const MasterReplyFn& reply);
  void list_devices(const MasterReplyFn& reply);

  PlanRef make_plan(const std::string& session, const std::string& signature, const RunStep& request);
  void on_registered(GraphRegistered& message);
  // Forgets a plan: fails the steps that wait for it and lets the workers forget its parts.
  void drop(Plan& plan, const Status& reason);
  void start(PlanRef plan, RunStep& request, MasterReplyFn reply);
  void on_done(TaskId from, StepDone& message);
  void part_done(StepId id, Step& step, std::size_t part, const Status& status);
  void abort(StepId id, Step& step, const Status& reason);
  void on_timeout(StepId id, std::int64_t timeout_ms);
  void on_peer_lost(const PeerLost& message);

  caf::event_based_actor* self_;
  TaskRef task_;
  std::unordered_map<std::string, Session> sessions_;
  std::unordered_map<std::uint64_t, Registration> registrations_;  // in progress, by request
  std::unordered_map<StepId, Step> steps_;
  std::uint64_t next_request_ = 1;
};

using MasterActor = caf::stateful_actor<std::unique_ptr<Master>, LightActor>;
caf::behavior master_actor(MasterActor* self, TaskRef task);

}  // namespace actorflow
