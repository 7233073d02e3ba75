#include "actors/core/task_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
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
  blocks_.clear();
  blocks_.reserve(max_blocks);
  add_block();
  record_ = clock();
  on_ = true;
}

// It is off whatever is thrown.
TaskRecord TaskRecorder::take() {
  TaskRecord record;
  std::vector<Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    on_ = false;
    record_.end_us = microseconds_of(task_.clock->now());
    record = std::exchange(record_, {});
    blocks.swap(blocks_);
  }
  std::size_t size = 0;
  for (const auto& block : blocks) size += block.size();
  record.events.reserve(size);
  for (auto& block : blocks) {
    std::ranges::move(block, std::back_inserter(record.events));
    block = {};
  }
  return record;
}

std::unique_ptr<PartRecorder> TaskRecorder::recorder_of(const Executable& part, bool traced) {
  try {
    return std::make_unique<PartRecorder>(part, part.clock().now(), traced);
  } catch (const std::bad_alloc&) {
    if (traced) throw;
  }
  const std::lock_guard lock(mutex_);
  if (on()) record_.dropped += 1 + part.size();
  return nullptr;
}

TaskTrace TaskRecorder::ended(StepId step, std::unique_ptr<PartRecorder> part, SteadyTime now) {
  TaskTrace trace = part->take(now);
  ran(step, trace, part->dropped());
  return part->traced() ? std::move(trace) : TaskTrace();
}

void TaskRecorder::ran(StepId step, const TaskTrace& part, std::int64_t dropped_nodes) {
  if (!on()) return;
  std::vector<TaskEvent> events;
  try {
    events = events_of(step, part);
  } catch (const std::bad_alloc&) {  // counted below
  }
  const std::lock_guard lock(mutex_);
  if (!on() || part.start_us < record_.begin_us) return;
  record_.dropped += dropped_nodes;
  if (events.empty()) record_.dropped += static_cast<std::int64_t>(1 + part.nodes.size());
  for (auto& event : events) add(std::move(event));
}

void TaskRecorder::note(TaskEvent::Kind kind, TaskId peer, const Message& message) {
  if (!on()) return;
  std::optional<TaskEvent> event;
  try {
    event = event_of(kind, peer, message);
  } catch (const std::bad_alloc&) {  // counted below
  }
  const std::lock_guard lock(mutex_);
  if (!on()) return;
  if (event)
    add(std::move(*event));
  else
    ++record_.dropped;
}

// The part, and its nodes.
std::vector<TaskEvent> TaskRecorder::events_of(StepId step, const TaskTrace& part) const {
  std::vector<TaskEvent> events;
  events.reserve(1 + part.nodes.size());
  NodeTrace whole;
  whole.start_us = part.start_us;
  whole.end_us = part.end_us;
  events.push_back({TaskEvent::Kind::part, step, std::move(whole)});
  for (const auto& node : part.nodes) events.push_back({kind_of(node), step, node});
  return events;
}

TaskEvent TaskRecorder::event_of(TaskEvent::Kind kind, TaskId peer, const Message& message) const {
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
  return {kind, label.step, std::move(record)};
}

// REQUIRES: the mutex is locked.
void TaskRecorder::add(TaskEvent event) {
  try {
    if (blocks_.back().size() == events_of_block && blocks_.size() < max_blocks) add_block();
  } catch (const std::bad_alloc&) {  // the next event may have the memory
  }
  if (blocks_.back().size() < events_of_block)
    blocks_.back().push_back(std::move(event));
  else
    ++record_.dropped;
}

// REQUIRES: the mutex is locked.
void TaskRecorder::add_block() {
  Block block;
  block.reserve(events_of_block);
  blocks_.push_back(std::move(block));
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
