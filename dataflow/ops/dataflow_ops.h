// All ops that dataflow/ defines. Kernels add their own (kernels/core/builtin_ops.h).
#pragma once

#include <span>

#include "dataflow/graph/op.h"

namespace actorflow {

std::span<const OpDef* const> dataflow_ops();

}  // namespace actorflow
