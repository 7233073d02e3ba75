#include "actors/worker/worker.h"

#include <fmt/format.h>

#include "actors/core/own_devices.h"
#include "actors/probes/point.h"
#include "actors/worker/conductor.h"
#include "actors/worker/lane.h"
#include "actors/worker/node_actor.h"
#include "actors/worker/node_calls.h"
#include "dataflow/ops/trace_ops.h"

namespace actorflow {
namespace {

Point lost_tensors("tensors lost between two tasks, and their master told");

Point undelivered("a message that a link could not carry");

Point begun_ahead("a step begun before it was asked for");

}  // namespace

caf::behavior Worker::behavior() {
  self_->introduce("worker", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](const Sender& from, RegisterGraph& message) { on_register(from, message); },
      [this](const Sender& from, RunGraph& message) { on_run(from, message); },
      [this](const Sender&, const AbortStep& message) { on_abort(message); },
      [this](const Sender& from, Undelivered& message) { on_undelivered(from, message); },
      [this](const Sender&, const DeregisterGraph& message) { graphs_.erase(message.handle); },
      [this](const Sender& from, const GetStatus& message) {
        tell(*task_, from.task, TaskStatus{message.request, own_devices(*task_)});
      },
      [this](LaneIdle& message) { on_idle(message); },
      [this](const UpdatesMade& message) { on_updates(message); },
      [this](const PeerLost& message) { on_peer_lost(message); },
      [this](const Unclaimed& message) { on_unclaimed(message); },
      [this](const StateCall& call) { record(call); },
      [this](const EndOfRecord& message) { complete(message.node, record_tensors(recorder_->take())); },
      [this](const Census& census) {
        census.answer({.graphs = graphs_.size(), .running = running_.size()});
      });
}

std::uint64_t Worker::handle_of(const Sender& from, std::uint64_t request) const {
  for (const auto& [handle, graph] : graphs_)
    if (graph.request == request && graph.master.task == from.task &&
        graph.master.incarnation == from.incarnation)
      return handle;
  return 0;
}

void Worker::on_register(const Sender& from, RegisterGraph& message) {
  if (const auto known = handle_of(from, message.request); known != 0)
    return tell(*task_, from.task, GraphRegistered{message.request, {}, known});
  // A random number: a handle of an earlier incarnation of this task must name no graph of this one.
  const auto handle = task_->random->next();
  auto executable = std::make_shared<Executable>(handle, std::move(message.graph), *task_,
                                                 message.cuda_graphs ? may_be_captured : MayJoin());
  if (message.executor == Executor::node_actors) spawn_nodes(executable);
  graphs_[handle] = {std::move(executable), message.executor, from, message.request};
  tell(*task_, from.task, GraphRegistered{message.request, {}, handle});
}

void Worker::spawn_nodes(const std::shared_ptr<Executable>& executable) {
  for (NodeId id = 0; id < executable->size(); ++id)
    executable->nodes()[static_cast<std::size_t>(id)].actor =
        self_->spawn<caf::lazy_init>(node_actor, task_, NodeRef{executable, id});
}

void Worker::refuse(const Sender& from, const RegisterGraph& message, const Status& why) {
  if (const auto made = handle_of(from, message.request); made != 0)
    return tell(*task_, from.task, GraphRegistered{message.request, {}, made});
  const Status named{why.code, fmt::format("{}: {}", task_->self.name.to_string(), why.message)};
  tell(*task_, from.task, GraphRegistered{message.request, named, 0});
}

void Worker::on_run(const Sender& from, RunGraph& message) {
  const StepId step = message.step;
  // A step runs once; the first request gets the answer.
  if (running_.contains(step) || ended_.contains(step)) return;
  announced_.erase(step);
  if (aborted_early_.contains(step))
    return refuse_step(from, step, {Code::aborted, "the step was aborted before it began"});
  const auto found = graphs_.find(message.handle);
  if (found == graphs_.end())
    return refuse_step(
        from, step,
        {Code::aborted, fmt::format("{} does not know graph {:x}; it has probably restarted",
                                    task_->self.name.to_string(), message.handle)});
  run(from, found->second, message);
}

void Worker::run(const Sender& from, Registered& graph, RunGraph& message) {
  if (graph.free_runners.empty()) graph.free_runners.push_back(spawn_runner(graph));
  const caf::actor runner = std::move(graph.free_runners.back());
  graph.free_runners.pop_back();
  const auto entry =
      running_
          .insert_or_assign(message.step, Running{runner, from, message.handle, graph.executable,
                                                  message.epoch, message.next == NextStep::begun})
          .first;
  try {
    caf::anon_send(runner, StartStep{message.step, from.task, message.epoch, std::move(message.args),
                                     message.trace, entry->second.goes_on});
  } catch (...) {
    running_.erase(entry);
    throw;
  }
  if (message.next == NextStep::announced) announced_.insert_or_assign(message.step + 1, from);
}

// Lazy: otherwise the runner's first step would run on the spawning thread, which is the network's.
caf::actor Worker::spawn_runner(const Registered& graph) {
  return graph.executor == Executor::node_actors
             ? self_->spawn<caf::lazy_init>(conductor_actor, task_, recorder_, graph.executable)
             : self_->spawn<caf::lazy_init>(lane_actor, task_, recorder_, graph.executable);
}

// A step that runs is aborted, and its runner answers.
void Worker::refuse(const Sender& from, const RunGraph& message, Status why) {
  if (running_.contains(message.step)) return on_abort({message.step, std::move(why)});
  refuse_step(from, message.step, std::move(why));
}

// Drops tensors that other tasks have sent, or will send, for the step.
void Worker::refuse_step(const Sender& from, StepId step, Status reason) {
  caf::anon_send(task_->rendezvous, GiveUp{step, reason});
  ended_.add(step);
  tell(*task_, from.task, StepDone{step, std::move(reason), {}});
}

void Worker::on_abort(const AbortStep& message) {
  const GiveUp give_up{message.step, message.reason};
  release_step(*task_, give_up);
  announced_.erase(message.step);
  if (const auto after = next_.find(message.step + 1); after != next_.end()) tell_of_end(after->second);
  if (const auto next = next_.find(message.step); next != next_.end()) {
    tell_of_end(next->second);
    const Sender master = next->second.master;
    next_.erase(next);
    refuse_step(master, message.step, message.reason);
  } else if (const auto found = running_.find(message.step); found != running_.end()) {
    found->second.executable->given_up().add(message.step);
    caf::anon_send(found->second.runner, give_up);
  } else if (!ended_.contains(message.step))
    aborted_early_.add(message.step);
}

// Gives the reason to whoever waits for the message: the master, or a node that receives.
void Worker::on_undelivered(const Sender& from, Undelivered& message) {
  undelivered.hit();
  switch (message.what) {
    case Undelivered::What::graph:
      return tell(*task_, from.task, GraphRegistered{message.number, std::move(message.reason), 0});
    case Undelivered::What::run:
      if (running_.contains(message.number) || ended_.contains(message.number)) return;
      return refuse_step(from, message.number, std::move(message.reason));
    case Undelivered::What::tensor:
      caf::anon_send(task_->rendezvous, GiveUp{message.number, std::move(message.reason)});
  }
}

void Worker::on_idle(LaneIdle& message) {
  const auto found = running_.find(message.step);
  if (found == running_.end()) return;
  found->second.executable->given_up().remove(message.step);
  // The runner of a dropped graph is not kept, and so ends.
  if (const auto graph = graphs_.find(message.graph); graph != graphs_.end()) {
    constexpr std::size_t most_steps = 64;
    graph->second.free_runners.push_back(std::move(found->second.runner));
    auto& last = graph->second.last_steps;
    last.push_back(message.step);
    if (last.size() > most_steps) last.pop_front();
  }
  const Running before = std::move(found->second);
  running_.erase(found);
  ended_.add(message.step);
  if (before.goes_on && message.ok) prepare(message.step + 1, before, std::move(message.answer));
}

void Worker::prepare(StepId step, const Running& before, std::optional<StepDone> done) {
  Next next{before.master, before.graph, before.epoch, std::move(done)};
  if (aborted_early_.contains(step)) {
    tell_of_end(next);
    return refuse_step(next.master, step, {Code::aborted, "the step was aborted before it began"});
  }
  next_.insert_or_assign(step, std::move(next));
  caf::anon_send(task_->shard, AwaitUpdates{step, before.executable});
}

// Tells the master of the end of the step before.
void Worker::tell_of_end(Next& next) {
  if (next.done_before) tell(*task_, next.master.task, *next.done_before);
  next.done_before.reset();
}

// Does nothing for a step that was aborted meanwhile.
void Worker::on_updates(const UpdatesMade& message) {
  const auto found = next_.find(message.step);
  if (found == next_.end()) return;
  if (!message.status.ok()) return on_abort({message.step, message.status});
  Next& next = found->second;
  tell_of_end(next);
  const auto graph = graphs_.find(next.graph);
  if (graph == graphs_.end())
    return on_abort({message.step, {Code::aborted, "the step's master has given up its graph"}});
  begun_ahead.hit();
  RunGraph again{next.graph, message.step, next.epoch, {}, false, NextStep::begun};
  run(next.master, graph->second, again);
  next_.erase(message.step);
}

void Worker::refuse(const UpdatesMade& message, Status why) { on_abort({message.step, std::move(why)}); }

void Worker::on_peer_lost(const PeerLost& message) {
  for (const auto& [step, running] : running_)
    if (message.concerns(running.master)) on_abort({step, message.reason});
  for (auto next = next_.begin(); next != next_.end();) {
    const auto& [step, entry] = *next++;
    if (message.concerns(entry.master)) on_abort({step, message.reason});
  }
  std::erase_if(announced_, [&message](const auto& entry) { return message.concerns(entry.second); });
  std::erase_if(graphs_,
                [&message](const auto& entry) { return message.concerns(entry.second.master); });
  report_lost_tensors(message);
}

// Tensors that steps have sent to that task may never have reached it, and their masters, which may have
// no connection of their own to lose, would wait for ever. Masters whose steps have ended ignore this.
void Worker::report_lost_tensors(const PeerLost& message) {
  const Status status{Code::unavailable,
                      fmt::format("{} lost the connection to {} over which it sent tensors: {}",
                                  task_->self.name.to_string(), task_->name_of(message.task).to_string(),
                                  message.reason.message)};
  for (const auto& [handle, graph] : graphs_) {
    if (!graph.executable->sends_to(message.task)) continue;
    lost_tensors.hit();
    for (const StepId step : graph.last_steps)
      tell(*task_, graph.master.task, StepDone{step, status, {}});
    for (const auto& [step, running] : running_)
      if (running.graph == handle) on_abort({step, status});
  }
}

void Worker::on_unclaimed(const Unclaimed& message) {
  for (const StepId step : message.steps)
    if (!running_.contains(step) && !announced_.contains(step))
      caf::anon_send(task_->rendezvous, GiveUp{step, {Code::aborted, "no master runs the step here"}});
}

// The task can be recorded again.
void Worker::refuse(const EndOfRecord& message, Status why) {
  recorder_->take();
  fail(message.node, std::move(why));
}

void Worker::record(const StateCall& call) {
  if (call.node->op != &record_task_op())
    throw Error(Code::unimplemented,
                fmt::format("node '{}': a worker cannot do {}", call.node->name, call.node->op->name));
  const std::chrono::milliseconds length(attr<std::int64_t>(*call.node, "milliseconds"));
  if (length.count() == 0) return complete(call.reply_to, record_tensors(recorder_->clock()));
  recorder_->begin();
  try {
    self_->delayed_send(self_, length, EndOfRecord{call.reply_to});
  } catch (...) {
    recorder_->take();
    throw;
  }
}

caf::behavior worker_actor(WorkerActor* self, TaskRef task, std::shared_ptr<TaskRecorder> recorder) {
  self->state = std::make_unique<Worker>(self, std::move(task), std::move(recorder));
  return self->state->behavior();
}

}  // namespace actorflow
