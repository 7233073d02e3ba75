#include "dataflow/ops/variable_list.h"

namespace actorflow {

AttrDef variables_attr() {
  AttrDef variables = required("variables", Tensor());
  variables.names_state = true;
  return variables;
}

std::int64_t expect_names(const InferContext& c) {
  const Tensor& names = c.attr<Tensor>("variables");
  if (names.dtype() != DType::string || names.shape().rank() != 1 || names.elements() == 0)
    c.fail("the names of variables, string[n]", names.valid() ? names.describe() : "nothing");
  return names.elements();
}

OpDef shard_op(std::string_view name, int min_inputs, int max_inputs, std::vector<AttrDef> attrs,
               void (*infer)(InferContext&)) {
  return {.name = name,
          .min_inputs = min_inputs,
          .max_inputs = max_inputs,
          .attrs = std::move(attrs),
          .infer = infer,
          .dispatch = Dispatch::shard,
          .stateful = true};
}

}  // namespace actorflow
