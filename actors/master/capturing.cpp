#include "actors/master/capturing.h"

#include <algorithm>
#include <vector>

#include "dataflow/ops/conditional_accumulator.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {
namespace {

bool is_on_gpu(const Node& node) { return DeviceName::parse(node.device).type == "GPU"; }

// Whether the node may wait for others, or let others go on, to which no edges lead.
bool meets_others(const Node& node) {
  const Dispatch by = node.op->dispatch;
  return by == Dispatch::coordinator || by == Dispatch::queue || by == Dispatch::collective ||
         node.op == &take_token_op() || std::ranges::count(accumulator_ops(), node.op) > 0;
}

// The way of what a task's GPUs compute through the step.
class WayBack {
 public:
  explicit WayBack(const GraphDef& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) {
      tasks_.push_back(TaskName::parse(node.device));
      on_gpu_.push_back(is_on_gpu(node));
      meets_.push_back(meets_others(node));
      if (on_gpu_.back()) candidates_.insert(tasks_.back());
      if (node.op->dispatch == Dispatch::collective) of_several_ranks_.insert(tasks_.back());
    }
  }

  std::set<TaskName> tasks_without() {
    std::set<TaskName> result;
    for (const TaskName& task : candidates_)
      if (!of_several_ranks_.contains(task) && !exists_for(task)) result.insert(task);
    return result;
  }

 private:
  struct Mark {
    bool follows = false;   // from what the task's GPUs compute
    bool came_out = false;  // and has been outside of the task, or has met others
  };

  // The nodes that meet others are taken for one: in the second round all of them follow from what any
  // of them was given in the first.
  bool exists_for(const TaskName& task) {
    bool met = false;
    for (int round = 0; round < 2; ++round) {
      std::vector<Mark> marks;
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        Mark mark = before(graph_.nodes[i], marks);
        const bool is_mine = on_gpu_[i] && tasks_[i] == task;
        if (is_mine && mark.came_out) return true;
        met = met || (meets_[i] && mark.follows);
        if (meets_[i] && met) mark = {true, true};
        if (tasks_[i] != task && mark.follows) mark.came_out = true;
        mark.follows = mark.follows || is_mine;
        marks.push_back(mark);
      }
    }
    return false;
  }

  static Mark before(const Node& node, const std::vector<Mark>& marks) {
    Mark sum;
    const auto add = [&](NodeId id) {
      const Mark& mark = marks[static_cast<std::size_t>(id)];
      sum = {sum.follows || mark.follows, sum.came_out || mark.came_out};
    };
    for (const Edge input : node.inputs) add(input.node);
    for (const NodeId control : node.controls) add(control);
    return sum;
  }

  const GraphDef& graph_;
  std::vector<TaskName> tasks_;       // of each node
  std::vector<bool> on_gpu_, meets_;  // by node
  std::set<TaskName> candidates_, of_several_ranks_;
};

}  // namespace

std::set<TaskName> tasks_that_may_capture(const GraphDef& placed) {
  if (std::ranges::none_of(placed.nodes, is_on_gpu)) return {};
  return WayBack(placed).tasks_without();
}

}  // namespace actorflow
