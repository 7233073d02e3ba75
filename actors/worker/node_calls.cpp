#include "actors/worker/node_calls.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dataflow/ops/trace_ops.h"
#include "dataflow/values/check.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

const caf::actor& owner_of(const TaskContext& task, const ExecutableNode& item) {
  if (item.dispatch == Dispatch::shard) return task.shard;
  if (item.dispatch == Dispatch::coordinator)
    return item.node->op == &record_task_op() ? task.worker : task.coordinator;
  if (item.dispatch == Dispatch::collective) return task.collectives;
  ACTORFLOW_CHECK(item.dispatch == Dispatch::queue, item.node->name);
  return task.queues;
}

}  // namespace

void call_owner(const TaskContext& task, const std::shared_ptr<const Executable>& executable,
                ReplyTo reply_to, FencingEpoch epoch, std::vector<Tensor> inputs) {
  const ExecutableNode& item = executable->node(reply_to.node);
  if (item.dispatch == Dispatch::rendezvous)
    return caf::anon_send(task.rendezvous,
                          AwaitTensor{std::move(reply_to), static_cast<std::uint32_t>(item.slot)});
  // The shard itself brings tensors where its variables are.
  if (item.dispatch != Dispatch::shard)
    for (auto& input : inputs) input = on_device(std::move(input), cpu_device());
  caf::anon_send(owner_of(task, item),
                 StateCall{std::move(reply_to), executable, item.node, epoch, std::move(inputs)});
}

void send_tensor(const TaskContext& task, StepId step, const ExecutableNode& item, Tensor tensor) {
  tell(task, item.peer,
       TensorDelivery{step, static_cast<std::uint32_t>(item.slot),
                      on_device(std::move(tensor), cpu_device())});
}

Tensor take_slot(std::vector<Slot>& args, std::int64_t index) {
  const auto found = std::ranges::find(args, index, &Slot::first);
  return found == args.end() ? Tensor() : std::exchange(found->second, {});
}

Tensor fed_value(const ExecutableNode& item, Tensor argument) {
  if (!argument.valid())
    throw invalid_argument("it must be fed; the step has no argument " + std::to_string(item.slot));
  return on_device(std::move(argument), *item.device);
}

void release_step(const TaskContext& task, const GiveUp& message) {
  for (const auto& owner :
       {task.coordinator, task.rendezvous, task.queues, task.collectives, task.shard})
    caf::anon_send(owner, message);
}

void report_end(const TaskContext& task, const StepOrigin& origin, const Executable& executable,
                StepDone done) {
  LaneIdle idle{executable.handle(), done.step, done.status.ok()};
  const bool worker_answers = origin.goes_on && idle.ok;
  if (worker_answers) idle.answer = std::move(done);
  caf::anon_send(task.worker, std::move(idle));
  if (!worker_answers) tell(task, origin.master, std::move(done));
}

}  // namespace actorflow
