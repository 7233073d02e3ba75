#include "actors/collectives/engine/graph_call.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "actors/collectives/operation/fusion.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {
namespace {

using Kind = CollectiveKind;

const std::map<const OpDef*, CollectiveKind>& kinds() {
  static const std::map<const OpDef*, CollectiveKind> table{
      {&all_reduce_op(), Kind::all_reduce},
      {&all_gather_op(), Kind::all_gather},
      {&broadcast_op(), Kind::broadcast},
      {&reduce_scatter_op(), Kind::reduce_scatter},
      {&grouped_reduce_scatter_op(), Kind::reduce_scatter},
      {&all_to_all_op(), Kind::all_to_all},
      {&barrier_op(), Kind::barrier}};
  return table;
}

std::vector<std::int64_t> numbers(const Tensor& tensor) {
  const auto values = tensor.values<std::int64_t>();
  return {values.begin(), values.end()};
}

CollectiveCall call_of(const Node& node) {
  CollectiveCall call{.kind = kinds().at(node.op)};
  if (call.kind == Kind::all_reduce || call.kind == Kind::reduce_scatter) {
    call.reduction = parse_reduction(attr<std::string>(node, "reduction"));
    call.prescale = attr<double>(node, "prescale");
    call.postscale = attr<double>(node, "postscale");
    call.compression = parse_compression(attr<std::string>(node, "compression"));
  }
  if (call.kind == Kind::all_gather) call.prescale = attr<double>(node, "scale");
  if (call.kind == Kind::broadcast) call.root = static_cast<int>(attr<std::int64_t>(node, "root"));
  return call;
}

// The outputs of the node. `shapes`: of several tensors that were reduced as one.
std::vector<Tensor> outputs_of(const Node& node, bool zeros, const std::vector<Shape>& shapes,
                               CollectiveResult result) {
  if (node.op == &barrier_op()) return {};
  if (zeros) result.tensor = Tensor::zeros(result.tensor.dtype(), result.tensor.shape());
  if (!shapes.empty()) return cut(result.tensor, shapes);
  std::vector<Tensor> outputs{std::move(result.tensor)};
  if (node.op == &all_gather_op() || node.op == &all_to_all_op())
    outputs.push_back(Tensor::of<std::int64_t>({std::ssize(result.rows)}, result.rows));
  return outputs;
}

// Zeros where another rank alone gets the result.
bool gets_zeros(const Node& node, const std::vector<std::string>& members, const std::string& own) {
  if (node.op != &all_reduce_op()) return false;
  const auto only_on = attr<std::int64_t>(node, "only_on");
  return only_on >= 0 && members[static_cast<std::size_t>(only_on)] != own;
}

// Takes the inputs: one tensor, several that are reduced as one, or a tensor and how it is cut.
std::vector<Shape> take_inputs(StateCall& message, GroupCall& call, Allocator& allocator) {
  std::vector<Tensor> inputs = std::move(message.inputs);
  std::vector<Shape> shapes;
  if (inputs.empty()) return shapes;
  if (message.node->op == &grouped_reduce_scatter_op()) {
    call.call.splits = attr<std::vector<std::int64_t>>(*message.node, "elements");
    call.own.tensor = inputs.size() == 1 ? inputs[0].reshaped({inputs[0].elements()})
                                         : fused(inputs, FusedLayout::packed, allocator);
    return shapes;
  }
  if (call.call.kind == Kind::all_reduce && inputs.size() > 1) {
    for (const Tensor& input : inputs) {
      call.call.splits.push_back(input.elements());
      shapes.push_back(input.shape());
    }
    call.own.tensor = fused(inputs, FusedLayout::aligned, allocator);
    return shapes;
  }
  if (inputs.size() == 2)
    (call.call.kind == Kind::all_to_all ? call.own.splits : call.call.splits) = numbers(inputs[1]);
  call.own.tensor = std::move(inputs[0]);
  return shapes;
}

std::function<void(Status, int last)> reply_to_join(const StateCall& message) {
  return [to = message.reply_to, executable = message.executable](Status status, int last) {
    if (!status.ok()) return fail(to, std::move(status));
    complete(to, {Tensor::scalar(std::int64_t{last})});
  };
}

}  // namespace

GraphCall graph_call(StateCall& message, const TaskContext& task) {
  const Node& node = *message.node;
  const bool joins = node.op == &join_op();
  if (!joins && !kinds().contains(node.op)) throw Error(Code::unimplemented, "the ranks cannot do this");
  GraphCall graph{std::string(graph_groups) + attr<std::string>(node, "ranks"), {}, life_of(node), {}};
  for (const auto& member : ranks_of(node)) graph.members.push_back(TaskName::parse(member).to_string());
  GroupCall& call = graph.call;
  call.name = attr<std::string>(node, "collective");
  call.step = message.reply_to.step;
  if (joins) {
    graph.join = reply_to_join(message);
    return graph;
  }
  call.call = call_of(node);
  call.reply =
      [to = message.reply_to, executable = message.executable, node = &node,
       zeros = gets_zeros(node, graph.members, task.self.name.to_string()),
       shapes = take_inputs(message, call, task.sending_device->allocator())](CollectiveResult result) {
        if (!result.status.ok()) return fail(to, std::move(result.status));
        complete(to, outputs_of(*node, zeros, shapes, std::move(result)));
      };
  return graph;
}

}  // namespace actorflow
