#include <algorithm>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/op_attrs.h"
#include "kernels/control/control_flow.h"
#include "kernels/control/gradients_through.h"
#include "kernels/control/subgraph_body.h"
#include "kernels/core/builtin_ops.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

const SubgraphRef& then_of(const InferContext& c) { return c.attr<SubgraphRef>("then"); }
const SubgraphRef& else_of(const InferContext& c) { return c.attr<SubgraphRef>("else"); }

// (predicate, tensors of the branch "then", tensors of the branch "else") -> results.
void infer_if(InferContext& c) {
  expect_scalar(c, 0, DType::boolean);
  const auto tensors = types_of_inputs(c, 1);
  const auto first = then_of(c) ? then_of(c)->input_types().size() : 0;
  if (first > tensors.size())
    c.fail(std::to_string(first) + " tensors or more for 'then'", std::to_string(tensors.size()));
  const std::span all(tensors);
  expect_subgraph(c, "then", then_of(c), all.first(first));
  expect_subgraph(c, "else", else_of(c), all.subspan(first));
  const auto then = then_of(c)->output_types(), otherwise = else_of(c)->output_types();
  if (then.size() != otherwise.size())
    c.fail("as many results of both branches",
           std::to_string(then.size()) + " and " + std::to_string(otherwise.size()));
  for (std::size_t i = 0; i < then.size(); ++i) {
    if (then[i].dtype != otherwise[i].dtype)
      c.fail("result " + std::to_string(i) + " of one dtype in both branches",
             then[i].to_string() + " and " + otherwise[i].to_string());
    const TensorType type = common_type(then[i], otherwise[i]);
    c.add_output(type.dtype, type.shape);
  }
}

class IfKernel final : public Kernel {
 public:
  IfKernel(const Node& node, const OpLibrary& ops, DeviceType device)
      : then_(node, "then", ops, device), else_(node, "else", ops, device) {}

  void compute(OpContext& c) const override {
    const auto tensors = inputs_of(c, 1);
    const auto first = static_cast<std::size_t>(then_.inputs());
    const std::span all(tensors);
    set_outputs(c, c.device().to_host(c.input(0)).scalar<bool>() ? then_.run(all.first(first), c)
                                                                 : else_.run(all.subspan(first), c));
  }

 private:
  SubgraphBody then_, else_;
};

// The gradients of a branch's results with respect to its tensors, zeros for those of the other branch.
std::vector<Output> branch_gradients(const Subgraph& branch, const std::vector<Output>& tensors,
                                     std::size_t first, const std::vector<Output>& arriving) {
  Graph& graph = *tensors[0].graph;
  const std::size_t count = branch.input_types().size();
  const std::vector<Output> own(tensors.begin() + static_cast<std::ptrdiff_t>(first),
                                tensors.begin() + static_cast<std::ptrdiff_t>(first + count));
  const auto leaving = gradients_through(add_inline(graph, branch, own), arriving, own);
  std::vector<Output> all;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_floating(tensors[i].dtype())) continue;
    const bool is_own = i >= first && i < first + count && leaving[i - first];
    all.push_back(is_own ? leaving[i - first] : zeros_like(tensors[i]));
  }
  return all;
}

std::vector<Output> if_gradient(GradientContext& c) {
  const auto then = c.attr<SubgraphRef>("then"), otherwise = c.attr<SubgraphRef>("else");
  std::vector<Output> tensors, arriving;
  for (int i = 1; i < static_cast<int>(c.node().inputs.size()); ++i) tensors.push_back(c.input(i));
  for (int i = 0; i < static_cast<int>(c.node().outputs.size()); ++i) arriving.push_back(c.gradient(i));
  std::vector<Output> gradients(tensors.size() + 1);
  if (std::ranges::none_of(tensors, [](Output x) { return is_floating(x.dtype()); })) return gradients;
  const std::size_t first_of_else = then->input_types().size();
  const auto floating = cond(
      c.input(0), [&] { return branch_gradients(*then, tensors, 0, arriving); },
      [&] { return branch_gradients(*otherwise, tensors, first_of_else, arriving); });
  std::size_t next = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (is_floating(tensors[i].dtype())) gradients[i + 1] = floating[next++];
  return gradients;
}

const OpDef& if_op() {
  static const OpDef op{.name = "If",
                        .min_inputs = 1,
                        .max_inputs = OpDef::any_number,
                        .attrs = {required("then", SubgraphRef()), required("else", SubgraphRef())},
                        .infer = infer_if,
                        .gradient = if_gradient,
                        .needs_host = true};
  return op;
}

}  // namespace

std::vector<Op> cond_ops() { return {{.def = &if_op(), .with_bodies = with_bodies<IfKernel>}}; }

std::vector<Output> cond(Output predicate, const Branch& then, const Branch& otherwise) {
  Graph& graph = *predicate.graph;
  return graph.name_scope("cond", [&] {
    const auto branch = [&graph](std::string_view name, const Branch& function) {
      return graph.name_scope(name, [&] {
        return capture(graph, "cond(), branch '" + std::string(name) + "'", {},
                       [&function](const std::vector<Output>&) { return function(); });
      });
    };
    const Captured if_true = branch("then", then), if_false = branch("else", otherwise);
    std::vector<Output> inputs{predicate};
    inputs.insert(inputs.end(), if_true.tensors.begin(), if_true.tensors.end());
    inputs.insert(inputs.end(), if_false.tensors.begin(), if_false.tensors.end());
    return outputs_of(
        graph.add(if_op(), inputs, {{"then", if_true.subgraph}, {"else", if_false.subgraph}}));
  });
}

Output cond(Output predicate, const std::function<Output()>& then,
            const std::function<Output()>& otherwise) {
  return cond(
      predicate, [&] { return std::vector{then()}; }, [&] { return std::vector{otherwise()}; })[0];
}

}  // namespace actorflow
