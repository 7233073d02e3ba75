// Recording of traced steps: by each lane, then merged by the master.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/core/executable.h"
#include "actors/runtime/clock.h"
#include "dataflow/graph/step_trace.h"
#include "schema/message.h"

namespace actorflow {

using SteadyTime = Clock::time_point;

inline std::int64_t microseconds_of(SteadyTime time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

// The record of a lane while it runs its part of a step. If the step is `traced`, it needs the record,
// and memory that is lacking for a node throws std::bad_alloc; else that node is dropped and counted.
class PartRecorder {
 public:
  // Throws std::bad_alloc.
  PartRecorder(const Executable& executable, SteadyTime now, bool traced);

  void begin(NodeId id, SteadyTime now);
  void end(NodeId id, SteadyTime now, std::int64_t bytes_out);
  bool traced() const { return traced_; }
  std::int64_t dropped() const { return dropped_; }
  TaskTrace take(SteadyTime now);

 private:
  void add(NodeId id, SteadyTime now, std::int64_t bytes_out);

  const Executable& executable_;
  const bool traced_;
  std::vector<std::int64_t> start_us_;  // by node
  TaskTrace trace_;
  std::int64_t dropped_ = 0;
};

std::int64_t total_bytes(std::span<const Tensor> tensors);

// The whole step, as the master sees it.
class StepTracer {
 public:
  explicit StepTracer(SteadyTime now) : start_us_(microseconds_of(now)) {}

  // Adds the trace of a part that has just reported its end.
  void add(TaskTrace part, SteadyTime now);
  StepTrace take();

 private:
  std::int64_t start_us_;
  StepTrace trace_;
};

}  // namespace actorflow
