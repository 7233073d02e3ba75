#include "actors/core/step_tracer.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <tuple>
#include <utility>

namespace actorflow {

std::int64_t total_bytes(std::span<const Tensor> tensors) {
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors)
    if (tensor.valid()) bytes += static_cast<std::int64_t>(tensor.size_bytes());
  return bytes;
}

PartRecorder::PartRecorder(const Executable& executable, SteadyTime now, bool traced)
    : executable_(executable), traced_(traced), start_us_(static_cast<std::size_t>(executable.size())) {
  trace_.start_us = microseconds_of(now);
  trace_.nodes.reserve(start_us_.size());
}

void PartRecorder::begin(NodeId id, SteadyTime now) {
  start_us_[static_cast<std::size_t>(id)] = microseconds_of(now);
}

void PartRecorder::end(NodeId id, SteadyTime now, std::int64_t bytes_out) {
  try {
    add(id, now, bytes_out);
  } catch (const std::bad_alloc&) {
    if (traced_) throw;
    ++dropped_;
  }
}

void PartRecorder::add(NodeId id, SteadyTime now, std::int64_t bytes_out) {
  const Node& node = *executable_.node(id).node;
  NodeTrace record{node.name,
                   std::string(node.op->name),
                   node.device,
                   start_us_[static_cast<std::size_t>(id)],
                   microseconds_of(now),
                   bytes_out};
  if (node.op->dispatch == Dispatch::rendezvous) {
    record.peer = attr<std::string>(node, "peer");
    record.channel = attr<std::int64_t>(node, "channel");
  }
  trace_.nodes.push_back(std::move(record));
}

TaskTrace PartRecorder::take(SteadyTime now) {
  trace_.end_us = microseconds_of(now);
  return std::move(trace_);
}

// Moves the part's times to our clock. The part began after the step and ended before now, which bounds
// the difference of the clocks; none is assumed where that is possible, as on one machine.
void StepTracer::add(TaskTrace part, SteadyTime now) {
  if (part.nodes.empty()) return;
  const auto least = start_us_ - part.start_us;
  const auto most = microseconds_of(now) - part.end_us;
  const auto shift = least <= 0 && most >= 0 ? 0 : least + (most - least) / 2;
  for (auto& node : part.nodes) {
    node.start_us += shift - start_us_;
    node.end_us += shift - start_us_;
  }
  std::ranges::move(part.nodes, std::back_inserter(trace_.nodes));
}

StepTrace StepTracer::take() {
  std::ranges::stable_sort(trace_.nodes, {},
                           [](const NodeTrace& node) { return std::tie(node.device, node.start_us); });
  return std::move(trace_);
}

}  // namespace actorflow
