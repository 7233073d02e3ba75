// The parameter shard of a task: the stateful actor that holds its variables.
//
// It applies updates in the order in which they come. Whoever reads gets a handle on the value; an
// update works in place only if nobody holds one, and otherwise makes a new value, so that no reader
// sees half an update.
#pragma once

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <map>
#include <memory>
#include <string>

#include "actors/accumulator.h"
#include "actors/messages.h"
#include "actors/placement.h"
#include "actors/task_context.h"
#include "dataflow/optimizer.h"
#include "kernels/optimizer_update.h"

namespace actorflow {

// How far behind the global step asynchronous updates were computed, in steps.
struct Staleness {
  std::int64_t steps = 0;
  std::int64_t sum = 0;
  std::int64_t max = 0;

  void record(std::int64_t staleness);
  double mean() const { return steps > 0 ? static_cast<double>(sum) / static_cast<double>(steps) : 0; }
};

class ParameterShard {
 public:
  ParameterShard(caf::event_based_actor* self, TaskRef task) : self_(self), task_(std::move(task)) {}

  caf::behavior behavior();

 private:
  struct Variable {
    VariableState state;
    Accumulator accumulator;
    // The last accumulate node that came, for its attributes, and when gradients began to wait.
    const Node* accumulate = nullptr;
    std::shared_ptr<const Executable> keeps_node;
    std::int64_t waiting_ticks = 0;
  };

  // Each returns the node's outputs, or throws Error.
  std::vector<Tensor> run(StateCall& call);
  std::vector<Tensor> read(const Node& node);
  std::vector<Tensor> assign(const Node& node, Tensor value);
  std::vector<Tensor> assign_add(const Node& node, const Tensor& delta);
  std::vector<Tensor> apply(const Node& node, const Tensor& gradient);
  std::vector<Tensor> accumulate(const StateCall& call);
  std::vector<Tensor> count_step(const Node& node, const Tensor& local_step);
  std::vector<Tensor> staleness(const Node& node) const;

  Variable& initialized(const std::string& name);
  void update(const Node& node, Variable& variable, std::span<const Tensor> gradients);
  void apply_mean(const std::string& name, Variable& variable);
  void report_waiting();

  caf::event_based_actor* self_;
  TaskRef task_;
  std::map<std::string, Variable, std::less<>> variables_;
  std::map<std::string, Staleness, std::less<>> staleness_;  // by global step
};

using ShardActor = caf::stateful_actor<std::unique_ptr<ParameterShard>, ComputingActor>;
caf::behavior shard_actor(ShardActor* self, TaskRef task);

}  // namespace actorflow
