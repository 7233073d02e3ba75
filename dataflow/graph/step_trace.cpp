#include "dataflow/graph/step_trace.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/core_ops.h"

namespace actorflow {
namespace {

std::string task_of(const NodeTrace& node) { return TaskName::parse(node.device).to_string(); }

// The name of a device within its task: "CPU:0".
std::string device_of(const NodeTrace& node) {
  const auto name = DeviceName::parse(node.device);
  return name.type.value_or("CPU") + ":" + std::to_string(name.index.value_or(0));
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(byte));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + '"';
}

// Writes the events of a trace, one per line.
class ChromeTrace {
 public:
  std::string write(const StepTrace& trace) {
    std::vector<const NodeTrace*> order;
    for (const auto& node : trace.nodes) order.push_back(&node);
    std::ranges::stable_sort(order, {}, &NodeTrace::start_us);
    for (const auto* node : order) add(*node);
    return "{\"traceEvents\":[" + events_ + "\n]}\n";
  }

 private:
  // The tracks of a device: each has the end of its last node.
  struct Track {
    int thread = 0;
    std::int64_t free_from_us = 0;
  };

  void add(const NodeTrace& node) {
    const int process = process_of(task_of(node));
    const int thread = thread_of(process, node);
    event("X", process, thread, node.start_us,
          ",\"name\":" + quoted(node.node) + ",\"cat\":" + quoted(node.op) + ",\"dur\":" +
              std::to_string(node.end_us - node.start_us) + ",\"args\":{\"op\":" + quoted(node.op) +
              ",\"bytes_out\":" + std::to_string(node.bytes_out) + "}");
    if (node.op == send_op().name) flow("s", process, thread, node.end_us, node, "");
    if (node.op == recv_op().name) flow("f", process, thread, node.end_us, node, ",\"bp\":\"e\"");
  }

  void flow(const char* phase, int process, int thread, std::int64_t time_us, const NodeTrace& node,
            const std::string& rest) {
    event(phase, process, thread, time_us,
          ",\"name\":\"transfer\",\"cat\":\"transfer\",\"id\":" + std::to_string(node.channel) + rest);
  }

  int process_of(const std::string& task) {
    const auto [found, fresh] = processes_.try_emplace(task, static_cast<int>(processes_.size()) + 1);
    if (fresh) name("process_name", found->second, 0, task);
    return found->second;
  }

  // The first track of the device on which nothing runs when the node starts.
  int thread_of(int process, const NodeTrace& node) {
    auto& tracks = tracks_[{process, device_of(node)}];
    auto track = std::ranges::find_if(
        tracks, [&node](const Track& t) { return t.free_from_us <= node.start_us; });
    if (track == tracks.end()) {
      track = tracks.insert(track, {++threads_, 0});
      name("thread_name", process, track->thread, device_of(node));
    }
    track->free_from_us = node.end_us;
    return track->thread;
  }

  void name(const std::string& kind, int process, int thread, const std::string& value) {
    event("M", process, thread, 0,
          ",\"name\":" + quoted(kind) + ",\"args\":{\"name\":" + quoted(value) + "}");
  }

  void event(const char* phase, int process, int thread, std::int64_t time_us, const std::string& rest) {
    events_ += (events_.empty() ? "\n{\"ph\":\"" : ",\n{\"ph\":\"") + std::string(phase) +
               "\",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(thread) +
               ",\"ts\":" + std::to_string(time_us) + rest + "}";
  }

  std::string events_;
  std::map<std::string, int> processes_;  // by task
  std::map<std::pair<int, std::string>, std::vector<Track>> tracks_;
  int threads_ = 0;
};

}  // namespace

std::vector<TransferTrace> transfers(const StepTrace& trace) {
  std::map<std::int64_t, const NodeTrace*> sends;
  for (const auto& node : trace.nodes)
    if (node.op == send_op().name) sends[node.channel] = &node;
  std::vector<TransferTrace> found;
  for (const auto& node : trace.nodes) {
    if (node.op != recv_op().name) continue;
    const auto send = sends.find(node.channel);
    if (send == sends.end()) continue;
    found.push_back({node.peer, task_of(node), node.node, send->second->bytes_out, send->second->end_us,
                     node.end_us});
  }
  std::ranges::stable_sort(found, {}, &TransferTrace::sent_us);
  return found;
}

std::string to_chrome_trace(const StepTrace& trace) { return ChromeTrace().write(trace); }

}  // namespace actorflow
