// The context of a task's actors: the cluster, the devices, and each other.
#pragma once

#include <caf/actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/send.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/messages.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/random.h"
#include "actors/runtime/storage.h"
#include "kernels/core/kernel.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// Filled by Server before the first message is sent, constant afterwards until every actor has ended.
struct TaskContext {
  TaskIdentity self;
  TaskId own{};
  std::vector<TaskName> tasks;     // of the cluster; a TaskId is a position here
  std::vector<std::string> hosts;  // of their addresses; none where all are in this process
  std::vector<Device*> devices;    // of this task; the CPU comes first
  // The CPU, for tensors that other tasks will read: large ones lie where the network need not copy
  // them.
  Device* sending_device = nullptr;
  const OpLibrary* ops = nullptr;
  const OptimizerLibrary* optimizers = nullptr;
  Team* team = nullptr;  // threads for the parts of a kernel
  Clock* clock = nullptr;
  Random* random = nullptr;
  Storage* storage = nullptr;

  caf::actor master, worker, rendezvous, shard, coordinator, queues, collectives, checkpoint_io,
      switchboard;
  // The actor that stands for another task. Thread-safe.
  std::function<const caf::actor&(TaskId)> peer;

  Sender as_sender() const { return {own, self.incarnation}; }
  const TaskName& name_of(TaskId task) const { return tasks[static_cast<std::size_t>(task)]; }
  bool all_in_this_process() const { return hosts.empty(); }
  // Whether a task is on this machine, as far as its address in the cluster tells.
  bool on_this_machine(TaskId task) const {
    return all_in_this_process() ||
           hosts[static_cast<std::size_t>(task)] == hosts[static_cast<std::size_t>(own)];
  }
  // Throws invalid_argument if the cluster has no such task.
  TaskId id_of(const TaskName& name) const;

  // The actor for a message of another task.
  const caf::actor& recipient(const RegisterGraph&) const { return worker; }
  const caf::actor& recipient(const DeregisterGraph&) const { return worker; }
  const caf::actor& recipient(const RunGraph&) const { return worker; }
  const caf::actor& recipient(const AbortStep&) const { return worker; }
  const caf::actor& recipient(const GraphRegistered&) const { return master; }
  const caf::actor& recipient(const StepDone&) const { return master; }
  const caf::actor& recipient(const TensorDelivery&) const { return rendezvous; }
  const caf::actor& recipient(const GradientApplied&) const { return coordinator; }
  const caf::actor& recipient(const GetStatus&) const { return worker; }
  const caf::actor& recipient(const TaskStatus&) const { return master; }
  const caf::actor& recipient(const ClearContainers&) const { return shard; }
  const caf::actor& recipient(const ContainersCleared&) const { return master; }
  const caf::actor& recipient(const Undelivered&) const { return worker; }
  const caf::actor& recipient(const ActorMessage&) const { return switchboard; }
};

using TaskRef = std::shared_ptr<const TaskContext>;

// Sends a message to a task, which may be our own.
template <class M>
void tell(const TaskContext& task, TaskId to, M message) {
  if (to == task.own)
    caf::anon_send(task.recipient(message), task.as_sender(), std::move(message));
  else
    caf::anon_send(task.peer(to), Message(std::move(message)));
}

// Returns the result of a node to its lane.
inline void complete(const ReplyTo& to, std::vector<Tensor> outputs) {
  caf::anon_send(to.lane, Completed{to.step, to.node, {}, std::move(outputs)});
}
inline void fail(const ReplyTo& to, Status status) {
  caf::anon_send(to.lane, Completed{to.step, to.node, std::move(status), {}});
}

// An answer for a node, allocated before its actor changes state, so that sending it afterwards cannot
// fail.
class PreparedAnswer {
 public:
  explicit PreparedAnswer(const ReplyTo& to);
  // Sends the answer; call it at most once.
  void complete(std::vector<Tensor> outputs) noexcept;

 private:
  caf::actor lane_;
  caf::mailbox_element_ptr message_;
};

// Answers to messages whose handler has thrown (guarded_actor.h): the node that waits for the answer
// fails, and with it its step.
void refuse(const StateCall& call, const Status& why);
void refuse(const AwaitTensor& request, Status why);
void refuse(const Fire& fire, const Status& why);
// The asking server gets no answer and stops waiting.
inline void refuse(const Census&, const Status&) {}

}  // namespace actorflow
