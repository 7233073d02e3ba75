#include "actors/core/task_recorder.h"

#include <fmt/format.h>

#include <functional>
#include <type_traits>
#include <utility>

#include "actors/runtime/guarded_actor.h"
#include "dataflow/graph/core_ops.h"

namespace actorflow {
namespace {

std::int64_t number_of(const std::string& text) {
  return static_cast<std::int64_t>(std::hash<std::string>()(text) >> 1);
}

// What tells messages of a kind apart, at both ends: a step, and a number within it.
struct Label {
  std::uint64_t step = 0;
  std::int64_t channel = -1;
};
template <class M>
Label label_of(const M&) {
  return {};
}
Label label_of(const RunGraph& message) { return {message.step}; }
Label label_of(const StepDone& message) { return {message.step}; }
Label label_of(const AbortStep& message) { return {message.step}; }
Label label_of(const TensorDelivery& message) { return {message.step, message.channel}; }
Label label_of(const GradientApplied& message) {
  return {static_cast<std::uint64_t>(message.global_step), number_of(message.accumulator)};
}
Label label_of(const ActorMessage& message) { return {message.request, number_of(message.type)}; }

std::int64_t bytes_of(const Message& message) {
  const auto* delivery = std::get_if<TensorDelivery>(&message);
  return delivery ? total_bytes({&delivery->tensor, 1}) : 0;
}

}  // namespace

TaskRecord TaskRecorder::clock() const {
  const auto now_us = microseconds_of(task_.clock->now());
  return {task_.self.name.to_string(), now_us, now_us, 0, {}};
}

void TaskRecorder::begin() {
  const std::lock_guard lock(mutex_);
  if (on())
    throw Error(Code::unavailable, fmt::format("{} is being recorded already; try again later",
                                               task_.self.name.to_string()));
  record_ = clock();
  on_ = true;
}

TaskRecord TaskRecorder::take() {
  const std::lock_guard lock(mutex_);
  on_ = false;
  record_.end_us = microseconds_of(task_.clock->now());
  return std::exchange(record_, {});
}

void TaskRecorder::ran(StepId step, const TaskTrace& part) {
  const std::lock_guard lock(mutex_);
  if (!on() || part.start_us < record_.begin_us) return;
  NodeTrace whole;
  whole.start_us = part.start_us;
  whole.end_us = part.end_us;
  add({TaskEvent::Kind::part, step, std::move(whole)});
  for (const auto& node : part.nodes) add({kind_of(node), step, node});
}

void TaskRecorder::note(TaskEvent::Kind kind, TaskId peer, const Message& message) {
  if (!on()) return;
  NodeTrace record;
  record.start_us = record.end_us = microseconds_of(task_.clock->now());
  record.peer = task_.name_of(peer).to_string();
  record.bytes_out = bytes_of(message);
  const Label label = std::visit(
      [&record](const auto& content) {
        record.op = guarding::message_name<std::decay_t<decltype(content)>>();
        return label_of(content);
      },
      message);
  record.channel = label.channel;
  const std::lock_guard lock(mutex_);
  if (on()) add({kind, label.step, std::move(record)});
}

// REQUIRES: the mutex is locked.
void TaskRecorder::add(TaskEvent event) {
  if (record_.events.size() < max_task_events)
    record_.events.push_back(std::move(event));
  else
    ++record_.dropped;
}

// What nodes of a barrier, a queue or a group do is to wait.
TaskEvent::Kind TaskRecorder::kind_of(const NodeTrace& node) const {
  const OpDef* op = task_.ops->registry().find(node.op);
  if (!op || op == &send_op()) return TaskEvent::Kind::node;
  switch (op->dispatch) {
    case Dispatch::rendezvous:
    case Dispatch::coordinator:
    case Dispatch::queue:
    case Dispatch::collective:
      return TaskEvent::Kind::waiting;
    case Dispatch::kernel:
    case Dispatch::step:
    case Dispatch::shard:
      return TaskEvent::Kind::node;
  }
  return TaskEvent::Kind::node;
}

}  // namespace actorflow
