#include "actors/worker/node_actor.h"

#include <utility>

#include "actors/core/step_tracer.h"
#include "actors/probes/point.h"
#include "actors/worker/node.h"
#include "actors/worker/node_calls.h"
#include "dataflow/graph/core_ops.h"
#include "kernels/core/node_error.h"
#include "kernels/devices/on_device.h"

namespace actorflow {
namespace {

Point late_edge("a tensor came to the actor of a node for a step given up");

void report_to(const caf::actor_addr& conductor, NodeDone report) {
  if (const auto actor = caf::actor_cast<caf::actor>(conductor))
    caf::anon_send(actor, std::move(report));
}

// The last consumer of an output gets our own handle, so that it may work in place.
void pass_on(const Executable& executable, const ExecutableNode& item, StepId step,
             std::vector<Tensor>& outputs) {
  for (int i = 0; i < static_cast<int>(outputs.size()); ++i) {
    Tensor& output = outputs[static_cast<std::size_t>(i)];
    const auto consumers = executable.consumers(item, i);
    for (std::size_t c = 0; c < consumers.size(); ++c) {
      const ExecutableNode& next = executable.node(consumers[c].node);
      caf::anon_send(next.actor, TensorEdge{step, consumers[c].input - next.first_input,
                                            c + 1 < consumers.size() ? output : std::move(output)});
    }
  }
  for (const NodeId next : executable.controls_from(item))
    caf::anon_send(executable.node(next).actor, ControlEdge{step});
}

}  // namespace

caf::behavior NodeActor::behavior() {
  self_->introduce("node-actor", &task_->self.name);
  return guarded(
      self_, this,  //
      [this](OpenFrame& message) { open(message); }, [this](TensorEdge& message) { take(message); },
      [this](const ControlEdge& message) { take(message); },
      [this](Completed& message) { on_completed(message); },
      [this](GiveUp& message) { fail(message.step, std::move(message.reason)); });
}

NodeActor::Frame* NodeActor::frame_of(StepId step) {
  const auto found = frames_.find(step);
  return found == frames_.end() ? nullptr : &found->second;
}

void NodeActor::open(OpenFrame& message) {
  const auto executable = executable_.lock();
  if (!executable) return;
  Frame frame{std::move(message.conductor), message.epoch, message.trace, std::move(message.argument)};
  frame.missing = executable->pending()[static_cast<std::size_t>(id_)];
  frame.inputs.resize(static_cast<std::size_t>(executable->node(id_).num_inputs));
  Frame& kept = frames_.insert_or_assign(message.step, std::move(frame)).first->second;
  if (kept.missing == 0) fire(message.step, kept);
}

// The conductor waits for one answer, whether or not the frame was made.
void NodeActor::refuse(const OpenFrame& message, Status why) {
  if (frame_of(message.step)) return fail(message.step, std::move(why));
  report_to(message.conductor, {.step = message.step, .node = id_, .status = std::move(why)});
}

void NodeActor::take(TensorEdge& message) {
  Frame* frame = frame_of(message.step);
  if (!frame) return late_edge.hit();
  frame->inputs[static_cast<std::size_t>(message.input)] = std::move(message.tensor);
  arrive(message.step, *frame);
}

void NodeActor::take(const ControlEdge& message) {
  if (Frame* frame = frame_of(message.step)) arrive(message.step, *frame);
}

void NodeActor::arrive(StepId step, Frame& frame) {
  if (--frame.missing == 0) fire(step, frame);
}

void NodeActor::fire(StepId step, Frame& frame) {
  const auto executable = executable_.lock();
  if (!executable) return;
  if (frame.trace) frame.began = executable->clock().now();
  try {
    work(executable, step, frame);
  } catch (...) {
    const Status why = current_exception_status();
    fail(step, {why.code, naming(*executable->node(id_).node, why.message)});
  }
}

void NodeActor::work(const ExecutableRef& executable, StepId step, Frame& frame) {
  const ExecutableNode& item = executable->node(id_);
  if (item.dispatch == Dispatch::kernel) return compute(*executable, step, frame);
  if (item.node->op == &send_op()) return send(*executable, step, frame);
  if (item.node->op == &retval_op()) return give_result(*executable, step, frame);
  if (item.dispatch != Dispatch::step)
    return call_owner(*task_, executable, {caf::actor_cast<caf::actor>(self_), step, id_}, frame.epoch,
                      std::move(frame.inputs));
  std::vector<Tensor> outputs{fed_value(item, std::move(frame.argument))};
  done(*executable, report_of(step, frame, outputs), outputs);
}

void NodeActor::compute(const Executable& executable, StepId step, Frame& frame) {
  std::vector<Tensor> outputs;
  if (executable.node(id_).kernel) {
    Status status = compute_node(executable, id_, step, frame.inputs, outputs);
    frame.inputs.clear();
    if (!status.ok()) return fail(step, std::move(status));
  }
  done(executable, report_of(step, frame, outputs), outputs);
}

void NodeActor::send(const Executable& executable, StepId step, Frame& frame) {
  NodeDone report = report_of(step, frame, frame.inputs);  // it ends before the tensor arrives
  send_tensor(*task_, step, executable.node(id_), std::move(frame.inputs[0]));
  std::vector<Tensor> nothing;
  done(executable, std::move(report), nothing);
}

void NodeActor::give_result(const Executable& executable, StepId step, Frame& frame) {
  NodeDone report = report_of(step, frame, {});
  report.result = on_device(std::move(frame.inputs[0]), cpu_device());
  std::vector<Tensor> nothing;
  done(executable, std::move(report), nothing);
}

void NodeActor::on_completed(Completed& message) {
  Frame* frame = frame_of(message.step);
  const auto executable = executable_.lock();
  if (!frame || !executable) return;
  if (!message.status.ok()) return fail(message.step, std::move(message.status));
  done(*executable, report_of(message.step, *frame, message.outputs), message.outputs);
}

NodeDone NodeActor::report_of(StepId step, const Frame& frame, std::span<const Tensor> outputs) const {
  NodeDone report{.step = step, .node = id_};
  if (!frame.trace) return report;
  report.began = frame.began;
  report.ended = task_->clock->now();
  report.bytes_out = total_bytes(outputs);
  return report;
}

void NodeActor::done(const Executable& executable, NodeDone report, std::vector<Tensor>& outputs) {
  pass_on(executable, executable.node(id_), report.step, outputs);
  close(*frame_of(report.step), std::move(report));
}

void NodeActor::fail(StepId step, Status why) {
  if (Frame* frame = frame_of(step))
    close(*frame, {.step = step, .node = id_, .status = std::move(why)});
}

void NodeActor::close(Frame& frame, NodeDone report) {
  const StepId step = report.step;
  report_to(frame.conductor, std::move(report));
  frames_.erase(step);
}

caf::behavior node_actor(NodeActorBase* self, TaskRef task, NodeRef node) {
  self->state = std::make_unique<NodeActor>(self, std::move(task), std::move(node));
  return self->state->behavior();
}

}  // namespace actorflow
