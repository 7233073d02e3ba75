// The coordinator of replicated training: the actor with the barriers of replicas, on the task of the
// global step.
#pragma once

#include <caf/stateful_actor.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/training/clock_barrier.h"
#include "actors/training/step_holds.h"
#include "actors/training/token_barrier.h"

namespace actorflow {

class Coordinator {
 public:
  Coordinator(GuardedActor* self, TaskRef task);

  caf::behavior behavior();

 private:
  void call(const StateCall& call);
  // Handles the call if it is about clocks; else returns false.
  bool call_clocks(const StateCall& call, const std::string& global_step);
  // The same for holding and releasing the steps.
  bool call_holds(const StateCall& call);
  TokenBarrier& barrier(const std::string& global_step);
  StepHolds::Barriers barriers_of(const std::string& global_step);
  // Forgets every barrier and token; replicas that wait for one fail.
  void raise(FencingEpoch epoch);
  // Fails replicas that wait for others, now and later.
  void end(const Status& reason);
  // Drops the barriers of the containers.
  void clear(const ClearContainers& message);
  void on_tick();

  GuardedActor* self_;
  TaskRef task_;
  FencingEpoch epoch_ = 0;
  std::map<std::string, TokenBarrier, std::less<>> barriers_;  // by global step variable
  std::map<std::string, ClockBarrier, std::less<>> clocks_;    // by global step variable
  StepHolds holds_;
  std::optional<Status> over_;  // the job is, with this reason
};

using CoordinatorActor = caf::stateful_actor<std::unique_ptr<Coordinator>, LightActor>;
caf::behavior coordinator_actor(CoordinatorActor* self, TaskRef task);

}  // namespace actorflow
