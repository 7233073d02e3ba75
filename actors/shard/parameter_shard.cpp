#include "actors/shard/parameter_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "actors/checkpoint/files/io_actor.h"
#include "actors/core/executable.h"
#include "actors/core/fence.h"
#include "dataflow/graph/containers.h"
#include "kernels/core/computing.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

// Gradients come a few tens of microseconds apart.
constexpr std::chrono::microseconds longest_hold{1000};

}  // namespace

ParameterShard::ParameterShard(GuardedActor* self, TaskRef task)
    : self_(self),
      state_{.task = std::move(task),
             .epoch = 0,
             .variables = {},
             .staleness = {},
             .conditional = {},
             .snapshots = {},
             .gradient_reports = {}} {
  for (const auto family : {variable_handlers(), update_handlers(), synchronous_handlers(),
                            replicated_handlers(), sliced_handlers(), sliced_slots_handlers(),
                            conditional_handlers(), epoch_handlers(), checkpoint_handlers()})
    for (const StateOp& handler : family) handlers_.emplace(handler.op, &handler);
}

caf::behavior ParameterShard::behavior() {
  self_->delayed_send(self_, wait_look_interval, Tick{});
  self_->introduce("parameter-shard", &state_.task->self.name);
  return guarded(
      self_, this,  //
      [this](StateCall& message) { on_call(message); },
      [this](const ApplyHeld& message) {
        if (message.batch != batch_) return;
        apply_held();
        awaited_.answer(state_);
      },
      [this](const AwaitUpdates& message) {
        apply_held();
        awaited_.add(message, state_);
        awaited_.answer(state_);
      },
      [this](const SetGlobalStep& message) {
        apply_held();
        if (message.epoch != state_.epoch) return;
        if (ShardVariable* step = state_.find(message.variable))  // not cleared meanwhile
          step->state.value = Tensor::scalar<std::int64_t>(message.value);
      },
      [this](const Sender& from, const ClearContainers& message) {
        apply_held();
        clear(from.task, message);
        awaited_.answer(state_);
      },
      [this](const GiveUp& message) {
        give_up_takers(state_, message.step);
        awaited_.give_up(message.step);
      },
      [this](TensorsLoaded& message) {
        apply_held();
        put_restored(state_, message);
        awaited_.answer(state_);
      },
      [this](const PeerLost& message) { announce_again(state_, message.task); },
      [this](const AskGlobalStep& message) { on_ask_global_step(message); },
      [this](Tick) {
        report_waiting_gradients(state_);
        report_waiting_takers(state_);
        self_->delayed_send(self_, wait_look_interval, Tick{});
      });
}

void ParameterShard::on_call(StateCall& message) {
  if (const StateOp* op = op_to_hold(*message.node)) {
    hold(message, *op);
  } else {
    apply_held();
    call(message);
  }
  awaited_.answer(state_);
}

const StateOp& ParameterShard::handler_of(const Node& node) const {
  if (const auto found = handlers_.find(node.op); found != handlers_.end()) return *found->second;
  throw Error(Code::unimplemented,
              fmt::format("node '{}': a parameter shard cannot do {}", node.name, node.op->name));
}

void ParameterShard::call(StateCall& call) {
  const StateOp& op = handler_of(*call.node);
  const Computing computing(*call.node);
  if (op.effect == Effect::changes) check_fence(call, state_.epoch, *state_.task);
  bring_together(call, op);
  PreparedAnswer answer(call.reply_to);
  if (StateResult outputs = op.run(state_, call)) answer.complete(std::move(*outputs));
}

// The handler of a node with a gradient of a variable that lives on a GPU, else null.
const StateOp* ParameterShard::op_to_hold(const Node& node) const {
  if (cuda_device_count() == 0) return nullptr;
  const auto handler = handlers_.find(node.op);
  if (handler == handlers_.end() || !handler->second->run_counted) return nullptr;
  const auto found = state_.variables.find(variable_of(node));
  return found != state_.variables.end() && found->second.gpu ? handler->second : nullptr;
}

std::size_t ParameterShard::gradients_of(const std::shared_ptr<const Executable>& executable,
                                         const Device* gpu) {
  const bool known = !graph_.owner_before(executable) && !executable.owner_before(graph_);
  if (known && gpu_of_graph_ == gpu) return gradients_of_graph_;
  std::size_t count = 0;
  for (NodeId id = 0; id < executable->size(); ++id) {
    const ExecutableNode& item = executable->node(id);
    if (item.dispatch == Dispatch::shard && op_to_hold(*item.node) &&
        state_.find(variable_of(*item.node))->gpu == gpu)
      ++count;
  }
  graph_ = executable;
  gpu_of_graph_ = gpu;
  return gradients_of_graph_ = count;
}

void ParameterShard::hold(StateCall& call, const StateOp& op) {
  const Computing computing(*call.node);
  check_fence(call, state_.epoch, *state_.task);
  // A node on another GPU brings its variable there, of which a gradient may be held.
  const Device* const to = call.executable->node(call.reply_to.node).device;
  const bool moves =
      to->type() == DeviceType::cuda && state_.initialized(variable_of(*call.node)).gpu != to;
  if (moves) apply_held();
  bring_together(call, op);
  const Device* const gpu = state_.initialized(variable_of(*call.node)).gpu;
  const auto gpu_of_held = [&] { return state_.initialized(variable_of(*held_.front().call.node)).gpu; };
  if (!held_.empty() && gpu_of_held() != gpu) apply_held();
  if (held_.empty()) self_->delayed_send(self_, longest_hold, ApplyHeld{++batch_});
  const std::size_t all = gradients_of(call.executable, gpu);
  // Before the call is moved: one that is lost would be answered by nobody.
  if (held_.size() == held_.capacity()) held_.reserve(std::max(all, 2 * held_.size() + 1));
  held_.push_back({std::move(call), &op});
  if (held_.size() >= all) apply_held();
}

void ParameterShard::apply_held() {
  if (held_.empty()) return;
  std::vector<HeldCall> held = std::exchange(held_, {});
  std::vector<std::exception_ptr> failures;
  try {
    Device& gpu = *state_.initialized(variable_of(*held.front().call.node)).gpu;
    std::vector<GradientCall> gradients;
    for (const auto& [call, op] : held) gradients.push_back({&call, op->is_beside_variable});
    failures = run_together(state_, held, bad_elements(state_, gradients, gpu));
  } catch (...) {  // before any was run
    for (const HeldCall& each : held) refuse_held(each.call);
    return;
  }
  for (std::size_t i = 0; i < held.size(); ++i)
    if (failures[i]) try {
        std::rethrow_exception(failures[i]);
      } catch (...) {
        refuse_held(held[i].call);
      }
}

// Nobody else knows of a call that was held: where not even its failure can be told, the task ends.
// REQUIRES: called in a catch block.
void ParameterShard::refuse_held(const StateCall& call) try {
  actorflow::refuse(call, self_->failure_of("StateCall"));
} catch (...) {
  self_->end_task("StateCall");
}

// Brings the variable of a node on a GPU there, and each input to where the op wants it.
void ParameterShard::bring_together(StateCall& call, const StateOp& op) {
  if (cuda_device_count() == 0) return;
  Device& device = *call.executable->node(call.reply_to.node).device;
  ShardVariable* variable = nullptr;
  if (call.node->attrs.contains("variable")) variable = state_.find(variable_of(*call.node));
  if (variable) bring_to(device, *variable);
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    Tensor& input = call.inputs[i];
    const bool beside =
        variable && op.is_beside_variable && op.is_beside_variable(i, call.inputs.size());
    input = beside ? on_device(std::move(input), device_of(*variable)) : on_host(std::move(input));
  }
}

// One number that many nodes share, such as the learning rate of a step, is fetched once: each fetch
// waits for all that the GPU has still to do.
Tensor ParameterShard::on_host(Tensor input) {
  if (!input.valid() || input.on_host() || input.elements() != 1)
    return on_device(std::move(input), cpu_device());
  const bool is_known = fetched_.valid() && fetched_.data() == input.data() &&
                        fetched_.dtype() == input.dtype() && fetched_.shape() == input.shape();
  if (!is_known) {
    fetched_on_host_ = on_device(input, cpu_device());
    fetched_ = std::move(input);  // nobody else gets its memory meanwhile
  }
  return fetched_on_host_;
}

// Tells coordinator and queues before it answers: messages of later steps reach them afterwards.
void ParameterShard::clear(TaskId from, const ClearContainers& message) {
  const auto is_cleared = [&](const auto& entry) {
    return is_in(entry.first, message.containers, message.session);
  };
  std::erase_if(state_.variables, is_cleared);
  std::erase_if(state_.staleness, is_cleared);
  forget_conditional(
      state_, {Code::aborted, "the accumulator's container was cleared"},
      [&](const std::string& name) { return is_in(name, message.containers, message.session); });
  for (const auto& other : {state_.task->coordinator, state_.task->queues})
    caf::anon_send(other, message);
  tell(*state_.task, from, ContainersCleared{message.request});
}

void ParameterShard::on_ask_global_step(const AskGlobalStep& message) {
  const ShardVariable* found = state_.find(message.variable);
  const auto value = found ? found->state.value.scalar<std::int64_t>() : 0;
  caf::anon_send(state_.task->coordinator, GlobalStepIs{message.variable, value, state_.epoch});
}

void ParameterShard::refuse(const AskGlobalStep& message, Status why) {
  why.message = fmt::format("the global step '{}': {}", message.variable, why.message);
  caf::anon_send(state_.task->coordinator,
                 GlobalStepIs{message.variable, 0, state_.epoch, std::move(why)});
}

void ParameterShard::refuse(const AwaitUpdates& message, Status why) {
  awaited_.give_up(message.step);
  caf::anon_send(state_.task->worker, UpdatesMade{message.step, std::move(why)});
}

caf::behavior shard_actor(ShardActor* self, TaskRef task) {
  self->state = std::make_unique<ParameterShard>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow
