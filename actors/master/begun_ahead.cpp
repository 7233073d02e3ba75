#include "actors/master/begun_ahead.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

bool is_one_of(const OpDef* op, std::initializer_list<const OpDef*> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

const std::string& variable_of(const Node& node) { return attr<std::string>(node, "variable"); }

bool accumulates(const Node& node) {
  return is_one_of(node.op, {&accumulate_gradient_op(), &accumulate_sparse_gradient_op()});
}

// What has changed its variable when the part has ended and its accumulators are empty.
bool updates(const Node& node) {
  return accumulates(node) || is_one_of(node.op, {&apply_gradient_op(), &apply_sparse_gradient_op(),
                                                  &count_step_op(), &take_token_op()});
}

// Whether gradients are handed in, and nobody waits until they have been applied, as a token is waited
// for. The end of such a step may not wait for other replicas, either.
bool hands_in_only(const GraphDef& graph) {
  const auto asks = [](const Node& node) { return node.op == &take_token_op(); };
  return std::ranges::any_of(graph.nodes, accumulates) && std::ranges::none_of(graph.nodes, asks);
}

// Whether a replica that has contributed to a step goes on with the next one.
bool goes_on_with_the_next_step(const Node& node) {
  if (node.op == &advance_clock_op()) return false;
  if (node.op == &take_token_op() && attr<std::int64_t>(node, "initial_tokens") != 0) return false;
  return !accumulates(node) || attr<std::int64_t>(node, "replicas_to_aggregate") <=
                                   attr<std::int64_t>(node, "total_num_replicas");
}

// The tasks shrink until none of them would do by itself what must wait for the client.
class TasksAhead {
 public:
  explicit TasksAhead(const GraphDef& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) tasks_.push_back(TaskName::parse(node.device));
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (!updates(graph.node(id))) continue;
      ahead_.insert(task_of(id));
      updated_.emplace(task_of(id), variable_of(graph.node(id)));
    }
  }

  std::set<TaskName> without(const TaskName& client) && {
    ahead_.erase(client);
    while (remove_one()) {
    }
    return std::move(ahead_);
  }

 private:
  const TaskName& task_of(NodeId id) const { return tasks_[static_cast<std::size_t>(id)]; }

  bool remove_one() {
    std::vector<bool> early;  // by node: runs before anything comes from other tasks
    for (NodeId id = 0; id < graph_.size(); ++id) {
      early.push_back(ahead_.contains(task_of(id)) && is_after(early, graph_.node(id)));
      if (early.back() && !may_be_early(id)) return ahead_.erase(task_of(id)) > 0;
    }
    return false;
  }

  static bool is_after(const std::vector<bool>& early, const Node& node) {
    const auto is_early = [&early](NodeId id) { return early[static_cast<std::size_t>(id)]; };
    return std::ranges::all_of(node.inputs, is_early, &Edge::node) &&
           std::ranges::all_of(node.controls, is_early);
  }

  bool may_be_early(NodeId id) const {
    const Node& node = graph_.node(id);
    if (node.op == &read_variable_op()) return updated_.contains({task_of(id), variable_of(node)});
    return node.op->dispatch == Dispatch::kernel || node.op == &retval_op();
  }

  const GraphDef& graph_;
  std::vector<TaskName> tasks_;  // of each node
  std::set<TaskName> ahead_;
  std::set<std::pair<TaskName, std::string>> updated_;  // variables
};

}  // namespace

std::set<TaskName> tasks_that_begin_ahead(const GraphDef& placed, const TaskContext& task) {
  if (task.all_in_this_process() || hands_in_only(placed)) return {};
  if (!std::ranges::all_of(placed.nodes, goes_on_with_the_next_step)) return {};
  return TasksAhead(placed).without(task.name_of(task.own));
}

bool changes_variables(const GraphDef& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    return node.op->dispatch == Dispatch::shard &&
           !is_one_of(node.op, {&read_variable_op(), &gather_variable_op(), &is_initialized_op(),
                                &read_epoch_op(), &read_at_step_op(), &has_gradient_op(),
                                &gradient_counts_op(), &staleness_op()});
  });
}

}  // namespace actorflow
