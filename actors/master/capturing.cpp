#include "actors/master/capturing.h"

#include <algorithm>
#include <map>
#include <utility>
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

// The ways of what GPUs compute through the step.
class Ways {
 public:
  explicit Ways(const GraphDef& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) {
      tasks_.push_back(TaskName::parse(node.device));
      on_gpu_.push_back(is_on_gpu(node));
      meets_.push_back(meets_others(node));
    }
  }

  // The tasks with GPUs whose regions cannot wait for each other in a circle. Those that would wait for
  // themselves go first, as the others may then stay.
  std::set<TaskName> without_circles() const {
    std::map<TaskName, std::set<TaskName>> ways;
    for (const TaskName& task : candidates())
      if (auto reached = reached_from(task); !reached.contains(task)) ways[task] = std::move(reached);
    for (const auto& [by, from_there] : ways)  // a region gives all it has when it has got all it needs
      for (auto& [from, reached] : ways)
        if (from != by && reached.contains(by)) reached.insert(from_there.begin(), from_there.end());
    std::set<TaskName> result;
    for (const auto& [task, reached] : ways)
      if (!reached.contains(task)) result.insert(task);
    return result;
  }

 private:
  struct Mark {
    bool follows = false;   // from what the task's GPUs compute
    bool came_out = false;  // and has been outside of the task, or has met others
  };

  std::set<TaskName> candidates() const {
    std::set<TaskName> result;
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (on_gpu_[i]) result.insert(tasks_[i]);
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (graph_.nodes[i].op->dispatch == Dispatch::collective) result.erase(tasks_[i]);
    return result;
  }

  // The tasks on whose GPUs something follows from what the task's GPUs compute; itself only where that
  // has come out. The nodes that meet others are taken for one: in the second round all of them follow
  // from what any of them was given in the first.
  std::set<TaskName> reached_from(const TaskName& task) const {
    std::set<TaskName> reached;
    bool met = false;
    for (int round = 0; round < 2; ++round) {
      std::vector<Mark> marks;
      for (std::size_t i = 0; i < tasks_.size(); ++i) {
        Mark mark = before(graph_.nodes[i], marks);
        met = met || (meets_[i] && mark.follows);
        if ((meets_[i] && met) || (tasks_[i] != task && mark.follows)) mark = {true, true};
        if (on_gpu_[i] && mark.came_out) reached.insert(tasks_[i]);
        if (on_gpu_[i] && tasks_[i] == task) mark.follows = true;
        marks.push_back(mark);
      }
    }
    return reached;
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
};

}  // namespace

std::set<TaskName> tasks_that_may_capture(const GraphDef& placed) {
  if (std::ranges::none_of(placed.nodes, is_on_gpu)) return {};
  return Ways(placed).without_circles();
}

}  // namespace actorflow
