#include "actors/worker/conductor.h"

#include <utility>

#include "actors/worker/node_calls.h"
#include "dataflow/graph/core_ops.h"

namespace actorflow {

caf::behavior Conductor::behavior() {
  self_->introduce("conductor", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](StartStep& message) { start(message); }, [this](NodeDone& report) { on_done(report); },
      [this](GiveUp& message) {
        if (runs(message.step)) fail_step(std::move(message.reason));
      });
}

void Conductor::begin(const StartStep& message) {
  active_ = true;
  step_ = message.step;
  origin_ = {message.master, message.goes_on};
  status_ = {};
  retvals_.clear();
  open_.assign(static_cast<std::size_t>(executable_->size()), false);
  awaited_ = told_ = 0;
  recorder_.reset();
}

void Conductor::start(StartStep& message) {
  begin(message);
  if (message.trace || task_recorder_->on())
    recorder_ = task_recorder_->recorder_of(*executable_, message.trace);
  // Frames are opened from the last node to the first: a node that waits for nothing begins at once, and
  // its consumers need their frames by then.
  for (NodeId id = executable_->size() - 1; id >= 0; --id) open(message, id);
  if (awaited_ == 0) finish();
}

void Conductor::open(StartStep& message, NodeId id) {
  const ExecutableNode& item = executable_->node(id);
  OpenFrame frame{step_, self_->address(), message.epoch, recorder_ != nullptr};
  if (item.node->op == &arg_op()) frame.argument = take_slot(message.args, item.slot);
  caf::anon_send(item.actor, std::move(frame));
  open_[static_cast<std::size_t>(id)] = true;
  ++awaited_;
}

// Fails the step, unless it has ended already.
void Conductor::refuse(const StartStep& message, Status why) {
  if (step_ != message.step) begin(message);
  if (active_) fail_step(std::move(why));
}

void Conductor::settle(NodeId id) {
  if (!open_[static_cast<std::size_t>(id)]) return;
  open_[static_cast<std::size_t>(id)] = false;
  --awaited_;
}

void Conductor::on_done(NodeDone& report) {
  if (!runs(report.step)) return;
  settle(report.node);
  if (!report.status.ok()) return fail_step(std::move(report.status));
  const ExecutableNode& item = executable_->node(report.node);
  if (recorder_) {
    recorder_->begin(report.node, report.began);
    recorder_->end(report.node, report.ended, report.bytes_out);
  }
  if (item.node->op == &retval_op())
    retvals_.emplace_back(static_cast<std::int32_t>(item.slot), std::move(report.result));
  if (awaited_ == 0) finish();
}

void Conductor::refuse(const NodeDone& report, Status why) {
  if (!runs(report.step)) return;
  settle(report.node);
  fail_step(std::move(why));
}

void Conductor::refuse(const GiveUp& message, Status why) {
  if (runs(message.step)) fail_step(std::move(why));
}

// Keeps the first reason. Called again after an exception, it goes on with the nodes not yet told.
void Conductor::fail_step(Status status) {
  if (status_.ok()) status_ = std::move(status);
  for (; told_ < executable_->size(); ++told_)
    if (open_[static_cast<std::size_t>(told_)])
      caf::anon_send(executable_->node(told_).actor, GiveUp{step_, status_});
  if (awaited_ == 0) finish();
}

// The step stays active until worker and client have been told: if one cannot be, it fails, and is
// finished once more.
void Conductor::finish() {
  if (!status_.ok()) release_step(*task_, {step_, status_});
  StepDone message{step_, status_, {}};
  if (status_.ok()) message.retvals = std::move(retvals_);
  if (recorder_)
    message.trace =
        task_recorder_->ended(step_, std::exchange(recorder_, nullptr), executable_->clock().now());
  retvals_.clear();
  report_end(*task_, origin_, *executable_, std::move(message));
  active_ = false;
}

caf::behavior conductor_actor(ConductorActor* self, TaskRef task, std::shared_ptr<TaskRecorder> recorder,
                              std::shared_ptr<const Executable> executable) {
  self->state =
      std::make_unique<Conductor>(self, std::move(task), std::move(recorder), std::move(executable));
  return self->state->behavior();
}

}  // namespace actorflow
