#include "kernels/control/loop.h"

#include "dataflow/graph/op_attrs.h"

namespace actorflow {
namespace {

std::size_t inputs_of(const SubgraphRef& subgraph) {
  return subgraph ? subgraph->input_types().size() : 0;
}

}  // namespace

std::vector<AttrDef> loop_attrs() {
  return {required("condition", SubgraphRef()), required("body", SubgraphRef()),
          required_int("max_iterations"), required_int("variables")};
}

LoopInputs<TensorType> expect_loop(const InferContext& c, const LoopTypes& inputs) {
  const auto condition = c.attr<SubgraphRef>("condition"), body = c.attr<SubgraphRef>("body");
  const auto variables = c.attr<std::int64_t>("variables");
  const std::size_t of_condition = inputs_of(condition), of_body = inputs_of(body);
  const auto count = static_cast<std::size_t>(variables);
  if (variables < 1 || of_condition < count || of_body < count ||
      of_condition + of_body - count > inputs.size())
    c.fail(std::to_string(variables) + " loop variables, and " + std::to_string(of_condition) + " and " +
               std::to_string(of_body) + " inputs of condition and body",
           std::to_string(inputs.size()) + " inputs");
  if (const auto most = c.attr<std::int64_t>("max_iterations"); most < 1)
    c.fail("max_iterations of 1 or more", std::to_string(most));
  const auto parts = LoopInputs<TensorType>::of(inputs, count, of_condition, of_body);
  expect_subgraph(c, "condition", condition, joined(parts.variables, parts.of_condition));
  expect_subgraph(c, "body", body, joined(parts.variables, parts.of_body));
  const LoopTypes said = condition->output_types(), next = body->output_types();
  if (said.size() != 1 || said[0].dtype != DType::boolean ||
      (said[0].shape.has_rank() && said[0].shape.rank() != 0))
    c.fail("a condition that is a bool scalar", said.empty() ? "nothing" : said[0].to_string());
  if (next.size() != count)
    c.fail("a body that returns " + std::to_string(count) + " variables", std::to_string(next.size()));
  const LoopTypes given = body->input_types();
  for (std::size_t i = 0; i < count; ++i)
    if (next[i].dtype != given[i].dtype || common_type(next[i], given[i]) != given[i])
      c.fail("loop variable " + std::to_string(i) + " to stay " + given[i].to_string(),
             next[i].to_string());
  return parts;
}

}  // namespace actorflow
