// The recorder of a task: what it does while somebody traces the job.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/core/step_tracer.h"
#include "actors/core/task_context.h"
#include "dataflow/graph/job_trace.h"

namespace actorflow {

// Off until somebody begins. Thread-safe. Lanes, conductors, peers and the server hand it what they do;
// while it is off that costs them a look at a flag.
class TaskRecorder {
 public:
  // `task` must outlive the last call but that of on().
  explicit TaskRecorder(const TaskContext& task) : task_(task) {}

  bool on() const { return on_.load(std::memory_order_relaxed); }
  // A record of nothing, which tells the task's steady clock.
  TaskRecord clock() const;
  // Throws unavailable if it is on, std::bad_alloc if there is no memory to begin with.
  void begin();
  // Ends it; events by the task's steady clock. If it throws std::bad_alloc, the record is lost.
  TaskRecord take();

  // For a part that begins, which hands it back by ended(). Null where there is no memory for it; throws
  // std::bad_alloc in place of that if the step is traced.
  std::unique_ptr<PartRecorder> recorder_of(const Executable& part, bool traced);
  // Notes the record, too, and returns it if the step is traced; else an empty one.
  TaskTrace ended(StepId step, std::unique_ptr<PartRecorder> part, SteadyTime now);
  // Nothing happens while it is off. What there is no memory for is counted as dropped: who calls goes
  // on.
  void ran(StepId step, const TaskTrace& part, std::int64_t dropped_nodes = 0);
  void sent(TaskId to, const Message& message) { note(TaskEvent::Kind::sent, to, message); }
  void received(TaskId from, const Message& message) { note(TaskEvent::Kind::received, from, message); }

 private:
  // In blocks, so that nothing is moved while steps run.
  using Block = std::vector<TaskEvent>;
  static constexpr std::size_t events_of_block = 4'000, max_blocks = max_task_events / events_of_block;

  void note(TaskEvent::Kind kind, TaskId peer, const Message& message);
  std::vector<TaskEvent> events_of(StepId step, const TaskTrace& part) const;
  TaskEvent event_of(TaskEvent::Kind kind, TaskId peer, const Message& message) const;
  void add(TaskEvent event);
  void add_block();
  TaskEvent::Kind kind_of(const NodeTrace& node) const;

  const TaskContext& task_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;           // guards the record
  TaskRecord record_;          // without the events
  std::vector<Block> blocks_;  // one at least while it is on
};

}  // namespace actorflow
