#include "actors/client/record_job.h"

#include <algorithm>
#include <limits>
#include <set>

#include "actors/client/session.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/expect_path.h"
#include "actors/runtime/storage.h"
#include "dataflow/cluster/device_name.h"
#include "dataflow/ops/trace_ops.h"

namespace actorflow {
namespace {

constexpr int questions_per_clock = 7;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(steady_clock().now().time_since_epoch())
      .count();
}

// What is to be added to the times of a task, at least and at most.
struct Shift {
  std::int64_t least_us = std::numeric_limits<std::int64_t>::min();
  std::int64_t most_us = std::numeric_limits<std::int64_t>::max();

  bool is_possible() const { return least_us <= most_us; }
  std::int64_t width_us() const { return most_us - least_us; }
  std::int64_t likely_us() const {
    return least_us <= 0 && most_us >= 0 ? 0 : least_us + width_us() / 2;
  }
};

Shift both(const Shift& one, const Shift& other) {
  return {std::max(one.least_us, other.least_us), std::min(one.most_us, other.most_us)};
}

// The bounds of the fastest answer.
Shift ask_for_clock(const Callable& clock) {
  Shift best{0, std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < questions_per_clock; ++i) {
    const auto asked_us = now_us();
    const Tensor answer = clock.run()[0];
    const auto answered_us = now_us();
    const auto told_us = answer.values<std::int64_t>()[0];
    const Shift shift{asked_us - told_us, answered_us - told_us};
    if (shift.width_us() < best.width_us()) best = shift;
  }
  return best;
}

std::vector<std::int64_t> shifts_of(const std::vector<Shift>& bounds) {
  Shift common;
  for (const auto& shift : bounds) common = both(common, shift);
  std::vector<std::int64_t> shifts;
  for (const auto& shift : bounds) shifts.push_back((common.is_possible() ? common : shift).likely_us());
  return shifts;
}

std::vector<std::string> tasks_of(Session& session) {
  std::set<std::string> tasks;
  for (const auto& device : session.devices()) tasks.insert(TaskName::parse(device.name).to_string());
  return {tasks.begin(), tasks.end()};
}

void move_times(TaskRecord& task, std::int64_t by_us) {
  task.begin_us += by_us;
  task.end_us += by_us;
  for (auto& event : task.events) {
    event.record.start_us += by_us;
    event.record.end_us += by_us;
  }
}

void begin_at_zero(JobTrace& trace) {
  const auto first = std::ranges::min_element(trace.tasks, {}, &TaskRecord::begin_us);
  if (first == trace.tasks.end()) return;
  const auto begin_us = first->begin_us;
  for (auto& task : trace.tasks) move_times(task, -begin_us);
}

}  // namespace

JobTrace record_job(const std::string& target, const RecordJobOptions& options) {
  Graph g;
  // Beyond the time that it is told to take, a step of these nodes is short.
  const auto limit = options.time + std::chrono::milliseconds(10'000);
  Session session(target, g,
                  {.device_filters = options.device_filters,
                   .step_timeout_ms = limit.count(),
                   .credentials = options.credentials},
                  options.connect_timeout.count());
  const auto tasks = tasks_of(session);
  std::vector<Output> clocks, records;
  for (const auto& task : tasks) {
    clocks.push_back(g.on(task, [&] { return record_task(g, 0)[0]; }));
    for (const auto& output : g.on(task, [&] { return record_task(g, options.time.count()); }))
      records.push_back(output);
  }
  std::vector<Shift> bounds;
  for (const auto& clock : clocks) bounds.push_back(ask_for_clock(session.make_callable({clock})));
  const auto shifts = shifts_of(bounds);
  const auto tensors = session.run(records);

  JobTrace trace;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    trace.tasks.push_back(task_record_of(tasks[i], std::span(tensors).subspan(3 * i, 3)));
    move_times(trace.tasks.back(), shifts[i]);
  }
  begin_at_zero(trace);
  return trace;
}

void write_chrome_trace(const JobTrace& trace, const std::string& path) {
  const std::string text = to_chrome_trace(trace);
  posix_storage().write_atomically(expect_path("write_chrome_trace", path),
                                   std::as_bytes(std::span(text)));
}

}  // namespace actorflow
