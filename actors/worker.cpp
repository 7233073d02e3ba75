#include "actors/worker.h"

#include <fmt/format.h>

#include "actors/lane.h"
#include "actors/node.h"
#include "actors/task_devices.h"

namespace actorflow {

caf::behavior Worker::behavior() {
  return {
      [this](TaskId from, RegisterGraph& message) { on_register(from, message); },
      [this](TaskId from, RunGraph& message) { on_run(from, message); },
      [this](TaskId, const AbortStep& message) { on_abort(message); },
      [this](TaskId, const DeregisterGraph& message) { graphs_.erase(message.handle); },
      [this](TaskId from, const GetStatus& message) {
        tell(*task_, from, TaskStatus{message.request, own_devices(*task_)});
      },
      [this](const LaneIdle& message) { on_idle(message); },
      [this](const PeerLost& message) { on_peer_lost(message); },
  };
}

void Worker::on_register(TaskId from, RegisterGraph& message) {
  // Random: a handle of an earlier incarnation of this task names no graph of the present one.
  const auto handle = task_->random->next();
  GraphRegistered answer{message.request, {}, handle};
  try {
    auto executable = std::make_shared<Executable>(handle, std::move(message.graph), *task_);
    for (auto& node : executable->nodes()) node.actor = self_->spawn(node_actor);
    graphs_[handle] = {std::move(executable), from, {}};
  } catch (const Error& error) {
    answer.status = {error.code(), fmt::format("{}: {}", task_->self.name.to_string(), error.what())};
  }
  tell(*task_, from, std::move(answer));
}

void Worker::on_run(TaskId from, RunGraph& message) {
  const auto found = graphs_.find(message.handle);
  if (found == graphs_.end())
    return tell(
        *task_, from,
        StepDone{message.step,
                 {Code::aborted, fmt::format("{} does not know graph {}; it has probably restarted",
                                             task_->self.name.to_string(), message.handle)},
                 {}});
  Registered& graph = found->second;
  if (graph.free_lanes.empty())
    graph.free_lanes.push_back(self_->spawn(lane_actor, task_, graph.executable));
  const caf::actor lane = std::move(graph.free_lanes.back());
  graph.free_lanes.pop_back();
  caf::anon_send(lane, StartStep{message.step, from, message.epoch, std::move(message.args), message.trace});
  running_[message.step] = {lane, from};
}

void Worker::on_abort(const AbortStep& message) {
  const GiveUp give_up{message.step, message.reason};
  caf::anon_send(task_->rendezvous, give_up);
  caf::anon_send(task_->coordinator, give_up);
  if (const auto found = running_.find(message.step); found != running_.end())
    caf::anon_send(found->second.lane, give_up);
}

void Worker::on_idle(const LaneIdle& message) {
  const auto found = running_.find(message.step);
  if (found == running_.end()) return;
  // A lane of a graph that is gone ends with its last handle.
  if (const auto graph = graphs_.find(message.graph); graph != graphs_.end())
    graph->second.free_lanes.push_back(std::move(found->second.lane));
  running_.erase(found);
}

void Worker::on_peer_lost(const PeerLost& message) {
  for (const auto& [step, running] : running_)
    if (running.master == message.task) on_abort({step, message.reason});
  std::erase_if(graphs_, [&message](const auto& entry) { return entry.second.master == message.task; });
}

caf::behavior worker_actor(WorkerActor* self, TaskRef task) {
  self->state = std::make_unique<Worker>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow
