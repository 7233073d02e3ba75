// The recorder of a task: what it does while somebody traces the job.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

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
  // Throws unavailable if it is on.
  void begin();
  // Ends it; events by the task's steady clock.
  TaskRecord take();

  // Nothing happens while it is off.
  void ran(StepId step, const TaskTrace& part);
  void sent(TaskId to, const Message& message) { note(TaskEvent::Kind::sent, to, message); }
  void received(TaskId from, const Message& message) { note(TaskEvent::Kind::received, from, message); }

 private:
  void note(TaskEvent::Kind kind, TaskId peer, const Message& message);
  void add(TaskEvent event);
  TaskEvent::Kind kind_of(const NodeTrace& node) const;

  const TaskContext& task_;
  std::atomic<bool> on_{false};
  std::mutex mutex_;  // guards the record
  TaskRecord record_;
};

}  // namespace actorflow
