// Traces of jobs: what all of its tasks did during a while, on one clock, and who waited for whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataflow/graph/step_trace.h"

namespace actorflow {

// Something that a task did. Times are in microseconds.
struct TaskEvent {
  enum class Kind : std::int64_t {
    node,      // a node has computed, or its variable's owner has done so
    waiting,   // a node has waited for a tensor of another task, a token, a queue, or other ranks
    part,      // the task's part of a step, from its begin until its end; `record` has times only
    sent,      // a message has been handed to the connection to `record.peer`; `record.op` says which
    received,  // a message of `record.peer` has come
  };
  Kind kind = Kind::node;
  std::uint64_t step = 0;  // the same number on all tasks of a step; 0: of none
  NodeTrace record = {};
};

// What one task did. A part of a step that began before, or ended after, is not there, nor are its
// nodes; messages are.
struct TaskRecord {
  std::string task;
  std::int64_t begin_us = 0, end_us = 0;
  std::int64_t dropped = 0;  // events beyond max_task_events, or for which memory was short
  std::vector<TaskEvent> events;
};
inline constexpr std::size_t max_task_events = 200'000;

struct JobTrace {
  std::vector<TaskRecord> tasks;
};

// A time in which nothing was computed on a task.
struct TaskWait {
  std::string task;
  // The last message that came in that time: what the task has waited for, as far as can be seen. Empty:
  // none came, and the task waited for its own threads, or for processor time.
  std::string peer, message;
  std::int64_t begin_us = 0;
  std::int64_t arrived_us = 0;  // of that message; begin_us if none came
  std::int64_t end_us = 0;  // the next node begins: since `arrived_us` the task's threads had to wake
};

// The waits of each task between the first and the last node that it has run, by task and time.
std::vector<TaskWait> waits(const JobTrace& trace);

// Of one task, in microseconds except for counts.
struct TaskShare {
  std::string task;
  std::int64_t steps = 0, nodes = 0, sent = 0, received = 0;
  std::int64_t spanned_us = 0;   // between its first and its last node; it computed in
  std::int64_t computed_us = 0;  // this, waited for others or was woken in the rest:
  struct Wait {
    std::string peer;  // empty: its own threads
    std::int64_t waited_us = 0;
  };
  std::vector<Wait> waited;   // by peer, the longest first
  std::int64_t woken_us = 0;  // after the message had come
};
std::vector<TaskShare> shares(const JobTrace& trace);

// JSON in the Trace Event Format, for chrome://tracing and ui.perfetto.dev: a process per task with
// tracks for parts of steps, nodes, waits, and messages, which arrows join. Messages that cannot be told
// apart have no arrows.
std::string to_chrome_trace(const JobTrace& trace);

}  // namespace actorflow
