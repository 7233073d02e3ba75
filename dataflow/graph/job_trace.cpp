#include "dataflow/graph/job_trace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/chrome_trace.h"

namespace actorflow {
namespace {

using Kind = TaskEvent::Kind;

bool is_message(const TaskEvent& event) {
  return event.kind == Kind::sent || event.kind == Kind::received;
}

std::vector<const TaskEvent*> by_start(const TaskRecord& task, Kind kind) {
  std::vector<const TaskEvent*> found;
  for (const auto& event : task.events)
    if (event.kind == kind) found.push_back(&event);
  std::ranges::stable_sort(found, {}, [](const TaskEvent* event) { return event->record.start_us; });
  return found;
}

// The wait of a task in which no node ran from `begin_us` until `end_us`. `received`: its messages by
// time.
TaskWait wait_between(const std::string& task, std::int64_t begin_us, std::int64_t end_us,
                      const std::vector<const TaskEvent*>& received) {
  TaskWait wait{task, {}, {}, begin_us, begin_us, end_us};
  const auto after = std::ranges::upper_bound(
      received, end_us, {}, [](const TaskEvent* event) { return event->record.start_us; });
  if (after == received.begin()) return wait;
  const NodeTrace& last = (*std::prev(after))->record;
  if (last.start_us < begin_us) return wait;
  wait.peer = last.peer;
  wait.message = last.op;
  wait.arrived_us = last.start_us;
  return wait;
}

std::vector<TaskWait> waits_of(const TaskRecord& task) {
  const auto received = by_start(task, Kind::received);
  std::vector<TaskWait> found;
  std::int64_t busy_until = 0;
  bool began = false;
  for (const auto* node : by_start(task, Kind::node)) {
    if (std::exchange(began, true) && node->record.start_us > busy_until)
      found.push_back(wait_between(task.task, busy_until, node->record.start_us, received));
    busy_until = std::max(busy_until, node->record.end_us);
  }
  return found;
}

// What both ends of a message know of it.
using MessageKey = std::tuple<std::string, std::string, std::string, std::uint64_t, std::int64_t>;

MessageKey key_of(const std::string& task, const TaskEvent& event) {
  const auto& [from, to] =
      event.kind == Kind::sent ? std::tie(task, event.record.peer) : std::tie(event.record.peer, task);
  return {from, to, event.record.op, event.step, event.record.channel};
}

struct Ends {
  int sent = 0, received = 0;
  std::size_t number = 0;
};

class JobPicture {
 public:
  std::string draw(const JobTrace& trace) {
    for (const auto& task : trace.tasks) count_messages(task);
    for (const auto& task : trace.tasks) {
      for (const auto* part : by_start(task, Kind::part)) draw_span(task.task, "steps", *part);
      for (const auto* node : by_start(task, Kind::node)) draw_span(task.task, "computes", *node);
      for (const auto& wait : waits_of(task)) draw_wait(wait);
      for (const auto* node : by_start(task, Kind::waiting))
        draw_span(task.task, "nodes that wait", *node);
      for (const auto* message : by_start(task, Kind::sent)) draw_message(task.task, *message);
      for (const auto* message : by_start(task, Kind::received)) draw_message(task.task, *message);
    }
    return picture_.json();
  }

 private:
  void count_messages(const TaskRecord& task) {
    for (const auto& event : task.events) {
      if (!is_message(event)) continue;
      Ends& ends = messages_[key_of(task.task, event)];
      ++(event.kind == Kind::sent ? ends.sent : ends.received);
      if (ends.number == 0) ends.number = messages_.size();
    }
  }

  void draw_span(const std::string& task, const std::string& track, const TaskEvent& event) {
    const NodeTrace& record = event.record;
    const std::string step = std::to_string(event.step);
    std::string arguments = "{\"step\":\"" + step + "\",\"op\":" + quoted_json(record.op) +
                            ",\"bytes_out\":" + std::to_string(record.bytes_out);
    if (!record.peer.empty()) arguments += ",\"peer\":" + quoted_json(record.peer);
    picture_.add({task, track, record.start_us, record.end_us,
                  event.kind == Kind::part ? "step " + step : record.node,
                  event.kind == Kind::part ? "step" : record.op, arguments + "}"});
  }

  void draw_wait(const TaskWait& wait) {
    const std::string whom = wait.peer.empty() ? "its own threads" : wait.peer;
    if (wait.arrived_us > wait.begin_us)
      picture_.add({wait.task, "waits", wait.begin_us, wait.arrived_us, "waits for " + whom, "wait",
                    "{\"message\":" + quoted_json(wait.message) + "}"});
    picture_.add({wait.task, "waits", wait.arrived_us, wait.end_us,
                  wait.peer.empty() ? "waits for " + whom : "wakes", "wait"});
  }

  // A microsecond wide, so that there is something for the arrow to lie on.
  void draw_message(const std::string& task, const TaskEvent& event) {
    const NodeTrace& record = event.record;
    const bool sent = event.kind == Kind::sent;
    const auto place =
        picture_.add({task, sent ? "sends" : "receives", record.start_us, record.start_us + 1,
                      record.op + (sent ? " to " : " from ") + record.peer, "message",
                      "{\"step\":\"" + std::to_string(event.step) +
                          "\",\"bytes\":" + std::to_string(record.bytes_out) + "}"});
    const Ends& ends = messages_.at(key_of(task, event));
    if (ends.sent != 1 || ends.received != 1) return;
    const std::string id = std::to_string(ends.number);
    if (sent)
      picture_.arrow_from(place, record.start_us, record.op, id);
    else
      picture_.arrow_to(place, record.start_us, record.op, id);
  }

  ChromeTrace picture_;
  std::map<MessageKey, Ends> messages_;
};

void add_wait(const TaskWait& wait, TaskShare& share) {
  share.woken_us += wait.peer.empty() ? 0 : wait.end_us - wait.arrived_us;
  auto found = std::ranges::find(share.waited, wait.peer, &TaskShare::Wait::peer);
  if (found == share.waited.end()) found = share.waited.insert(found, {wait.peer, 0});
  found->waited_us += wait.peer.empty() ? wait.end_us - wait.begin_us : wait.arrived_us - wait.begin_us;
}

TaskShare share_of(const TaskRecord& task) {
  TaskShare share;
  share.task = task.task;
  std::int64_t first_us = task.end_us, last_us = task.begin_us, idle_us = 0;
  for (const auto& event : task.events) {
    share.steps += event.kind == Kind::part;
    share.sent += event.kind == Kind::sent;
    share.received += event.kind == Kind::received;
    if (event.kind != Kind::node) continue;
    ++share.nodes;
    first_us = std::min(first_us, event.record.start_us);
    last_us = std::max(last_us, event.record.end_us);
  }
  for (const auto& wait : waits_of(task)) {
    idle_us += wait.end_us - wait.begin_us;
    add_wait(wait, share);
  }
  share.spanned_us = std::max<std::int64_t>(0, last_us - first_us);
  share.computed_us = share.spanned_us - idle_us;
  std::ranges::sort(share.waited, std::ranges::greater(), &TaskShare::Wait::waited_us);
  return share;
}

}  // namespace

std::vector<TaskWait> waits(const JobTrace& trace) {
  std::vector<TaskWait> found;
  for (const auto& task : trace.tasks) std::ranges::move(waits_of(task), std::back_inserter(found));
  return found;
}

std::vector<TaskShare> shares(const JobTrace& trace) {
  std::vector<TaskShare> found;
  for (const auto& task : trace.tasks) found.push_back(share_of(task));
  return found;
}

std::string to_chrome_trace(const JobTrace& trace) { return JobPicture().draw(trace); }

}  // namespace actorflow
