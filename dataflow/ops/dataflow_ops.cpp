#include "dataflow/ops/dataflow_ops.h"

#include <vector>

#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/ops/checkpoint_ops.h"
#include "dataflow/ops/collective_ops.h"
#include "dataflow/ops/conditional_accumulator.h"
#include "dataflow/ops/replicated_ops.h"
#include "dataflow/ops/sliced_ops.h"
#include "dataflow/ops/trace_ops.h"
#include "dataflow/ops/training_ops.h"

namespace actorflow {

std::span<const OpDef* const> dataflow_ops() {
  static const std::vector<const OpDef*> all = [] {
    std::vector<const OpDef*> ops;
    for (const auto more : {core_ops(), state_ops(), training_ops(), accumulator_ops(), checkpoint_ops(),
                            collective_ops(), replicated_ops(), sliced_ops(), trace_ops()})
      ops.insert(ops.end(), more.begin(), more.end());
    return ops;
  }();
  return all;
}

}  // namespace actorflow
