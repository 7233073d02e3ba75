// A compiled partition: nodes with dense indices, their kernels and actors, and the consumers of every
// output.
#pragma once

#include <atomic>
#include <caf/actor.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "actors/core/steps_given_up.h"
#include "actors/core/task_context.h"
#include "dataflow/graph/graph.h"
#include "dataflow/transform/region.h"
#include "kernels/core/kernel.h"
#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// Whether a CUDA graph may compute the node: it must be on a GPU and not need the host. Not the ops of a
// program's own: their kernels may do what a graph does not repeat, such as reading values on the host.
bool may_be_captured(const Node& node);

// A consumer of an output: an input of a later node, by its index in the step's frame.
struct Consumer {
  NodeId node = -1;
  std::int32_t input = 0;
};

// The measured time of a node. Several lanes may measure at once; one measurement is then lost, which
// does not matter.
class NodeCost {
 public:
  std::int64_t ns() const { return ns_.load(std::memory_order_relaxed); }
  // Reading the clock costs as much as a small kernel, so those are measured only now and then.
  bool worth_measuring() {
    constexpr std::int64_t small_ns = 2'000;
    constexpr unsigned one_in = 64;
    if (ns() == 0 || ns() >= small_ns) return true;
    const auto firings = firings_.load(std::memory_order_relaxed) + 1;
    firings_.store(firings, std::memory_order_relaxed);
    return firings % one_in == 0;
  }
  // Ignores the first measurement, in which kernels prepare things, and those with an interruption.
  void measured(std::int64_t ns) {
    const auto before = this->ns();
    const bool start_anew = before == 0 || ns < before / 2;
    ns_.store(start_anew ? ns : before + (ns - before) / 8, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> ns_{0};
  std::atomic<unsigned> firings_{0};
};

struct ExecutableNode {
  // What every firing needs, in one cache line.
  Dispatch dispatch = Dispatch::kernel;
  std::unique_ptr<Kernel> kernel;  // null: nothing to compute
  std::int32_t first_input = 0;    // of the frame's inputs
  std::int32_t num_inputs = 0;
  std::int32_t first_output = 0;  // of all outputs of the executable
  std::int32_t num_outputs = 0;
  std::int32_t first_control = 0;  // of all control edges that leave nodes of the executable
  std::int32_t num_controls = 0;

  const Node* node = nullptr;
  Device* device = nullptr;
  caf::actor actor;       // the node's, where every node is one (Executor::node_actors)
  std::int64_t slot = 0;  // Arg, Retval: the index; Send, Recv: the channel
  TaskId peer{};          // Send, Recv: the other end
};

// A compiled partition. Immutable except for the measured costs and the steps that are given up; any
// number of lanes may run it at once.
class Executable {
 public:
  // Throws Error if a node has no kernel for its device, names a device that this task does not have, or
  // a peer that the cluster does not have. `handle` is its number for masters. Nodes that may join
  // regions become parts of regions.
  Executable(std::uint64_t handle, GraphDef graph, const TaskContext& task,
             const MayJoin& may_join = {});

  std::uint64_t handle() const { return handle_; }
  NodeId size() const { return static_cast<NodeId>(nodes_.size()); }
  std::span<ExecutableNode> nodes() { return nodes_; }
  const ExecutableNode& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  std::span<const Consumer> consumers(const ExecutableNode& node, int output) const;
  // The nodes that run after the node without taking a tensor from it.
  std::span<const NodeId> controls_from(const ExecutableNode& node) const {
    return {controls_.data() + node.first_control, static_cast<std::size_t>(node.num_controls)};
  }
  std::int32_t num_inputs() const { return num_inputs_; }
  // For the start of a step: the number of things for which each node waits, and the nodes that wait for
  // nothing.
  const std::vector<std::int32_t>& pending() const { return pending_; }
  const std::vector<NodeId>& sources() const { return sources_; }
  // Whether a step of this partition sends tensors to that task.
  bool sends_to(TaskId task) const;
  NodeCost& cost(NodeId id) const { return costs_[static_cast<std::size_t>(id)]; }
  // Whether all kernels together take no longer; false while one of them has not been measured.
  bool computes_within(std::chrono::nanoseconds limit) const;
  StepsGivenUp& given_up() const { return given_up_; }
  Team* team() const { return team_; }
  Clock& clock() const { return *clock_; }
  // REQUIRES: the node has the attributes of an update.
  const BoundOptimizer& optimizer(NodeId id) const { return optimizers_.at(id); }

 private:
  Executable(std::uint64_t handle, GraphOfRegions graph, const TaskContext& task);

  void compile_node(NodeId id, const std::vector<Region>& regions, const TaskContext& task);
  void send_in_place(const TaskContext& task);
  void link_consumers();
  void link_controls();

  std::uint64_t handle_;
  GraphDef graph_;
  Team* team_;
  Clock* clock_;
  std::vector<ExecutableNode> nodes_;
  std::vector<Consumer> consumers_;           // grouped by output
  std::vector<std::int32_t> first_consumer_;  // of each output, and the end
  std::vector<NodeId> controls_;              // grouped by the node that they leave
  std::vector<std::int32_t> pending_;
  std::vector<NodeId> sources_;
  std::unique_ptr<NodeCost[]> costs_;  // by node
  std::map<NodeId, BoundOptimizer> optimizers_;
  mutable StepsGivenUp given_up_;
  std::int32_t num_inputs_ = 0;
  std::int32_t num_outputs_ = 0;
};

}  // namespace actorflow
