// The master of a task: it holds sessions and plans their steps once; running_steps.h runs them.
#pragma once

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/messages.h"
#include "actors/placement.h"
#include "actors/running_steps.h"
#include "actors/step_plan.h"
#include "actors/task_context.h"

namespace actorflow {

// A plan whose task is lost is made anew by the next step.
class Master {
 public:
  Master(caf::event_based_actor* self, TaskRef task) : task_(std::move(task)), steps_(self, task_) {}

  caf::behavior behavior();

 private:
  struct Plan {
    std::shared_ptr<Parts> parts = std::make_shared<Parts>();
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

  void on_call(MasterCall& call);
  void create_session(CreateSession& request, const MasterReplyFn& reply);
  void run_step(RunStep& request, MasterReplyFn& reply);
  void close_session(const CloseSession& request, const MasterReplyFn& reply);
  void list_devices(const MasterReplyFn& reply);

  PlanRef make_plan(const std::string& session, const std::string& signature, const RunStep& request);
  void on_registered(GraphRegistered& message);
  // Forgets a plan: fails the steps that wait for it and lets the workers forget its parts.
  void drop(Plan& plan, const Status& reason);
  void on_peer_lost(const PeerLost& message);

  TaskRef task_;
  RunningSteps steps_;
  std::unordered_map<std::string, Session> sessions_;
  std::unordered_map<std::uint64_t, Registration> registrations_;  // in progress, by request
  std::uint64_t next_request_ = 1;
};

using MasterActor = caf::stateful_actor<std::unique_ptr<Master>, LightActor>;
caf::behavior master_actor(MasterActor* self, TaskRef task);

}  // namespace actorflow
