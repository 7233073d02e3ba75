// Traces of steps: what each node did and when, and pictures of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace actorflow {

// A node that has run. Times are in microseconds since the step began: from the moment when the node
// could start, or was handed to the actor that does its work, until its outputs were there. A GPU kernel
// counts until it has been launched.
struct NodeTrace {
  std::string node;
  std::string op;
  std::string device;  // full name
  std::int64_t start_us = 0;
  std::int64_t end_us = 0;
  std::int64_t bytes_out = 0;  // of all outputs; of a Send: what it sent
  std::string peer = {};       // Send, Recv: the task at the other end, and
  std::int64_t channel = -1;   // a number that both ends have; -1 for other nodes
};

// A step on all tasks, by device and start. Times are those of steady clocks, which differ between
// machines: if a task's work would begin before the order to run or end after its report, its times are
// shifted to the middle of what the messages allow.
struct StepTrace {
  std::vector<NodeTrace> nodes;
};

// A tensor's way from one task to another.
struct TransferTrace {
  std::string from, to;  // tasks
  std::string node;      // the Recv
  std::int64_t bytes = 0;
  std::int64_t sent_us = 0;
  std::int64_t received_us = 0;
};

// The transfers of a step, by the time when they were sent.
std::vector<TransferTrace> transfers(const StepTrace& trace);

// JSON in the Trace Event Format, for chrome://tracing and ui.perfetto.dev: a process per task, a track
// of its own for each of several overlapping nodes, arrows for transfers.
std::string to_chrome_trace(const StepTrace& trace);

}  // namespace actorflow
