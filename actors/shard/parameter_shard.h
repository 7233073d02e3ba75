// The parameter shard of a task: the actor that holds its variables.
//
// It applies updates in the order of their arrival. A reader gets a handle on the value; an update works
// in place only if there is no other handle, and otherwise makes a new value, so that no reader sees
// half an update. The handlers of the ops are in actors/shard/.
//
// Whether a gradient on a GPU may be applied is known when the GPU has computed it, and each wait for
// that takes longer than the update of a small variable. So they are held until all of the step's
// graph are there, or for a moment (some may be computed only after others are applied), and looked
// through together. Every other call, and all that changes variables, finds them applied.
#pragma once

#include <caf/stateful_actor.hpp>
#include <memory>
#include <unordered_map>
#include <vector>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/shard/awaited_updates.h"
#include "actors/shard/joint_updates.h"
#include "actors/shard/state.h"

namespace actorflow {

class ParameterShard {
 public:
  ParameterShard(GuardedActor* self, TaskRef task);

  caf::behavior behavior();
  void refuse(const AskGlobalStep& message, Status why);
  void refuse(const AwaitUpdates& message, Status why);

 private:
  void on_call(StateCall& call);
  void call(StateCall& call);
  const StateOp* op_to_hold(const Node& node) const;
  std::size_t gradients_of(const std::shared_ptr<const Executable>& executable, const Device* gpu);
  void hold(StateCall& call, const StateOp& op);
  void apply_held();
  void refuse_held(const StateCall& call);
  const StateOp& handler_of(const Node& node) const;
  void bring_together(StateCall& call, const StateOp& op);
  Tensor on_host(Tensor input);
  void clear(TaskId from, const ClearContainers& message);
  void on_ask_global_step(const AskGlobalStep& message);

  GuardedActor* self_;
  ShardState state_;
  AwaitedUpdates awaited_;
  std::unordered_map<const OpDef*, const StateOp*> handlers_;
  std::vector<HeldCall> held_;  // gradients of variables on one GPU
  std::uint64_t batch_ = 0;     // of held ones
  // The graph of which gradients came last, and how many of one GPU it has.
  std::weak_ptr<const Executable> graph_;
  const Device* gpu_of_graph_ = nullptr;
  std::size_t gradients_of_graph_ = 0;
  // The last number that came from a GPU, there and here.
  Tensor fetched_, fetched_on_host_;
};

using ShardActor = caf::stateful_actor<std::unique_ptr<ParameterShard>, MeasuredActor>;
caf::behavior shard_actor(ShardActor* self, TaskRef task);

}  // namespace actorflow
