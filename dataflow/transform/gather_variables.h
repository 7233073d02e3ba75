// Reads some rows of a variable instead of the whole.
#pragma once

#include "dataflow/transform/step_graph.h"

namespace actorflow {

// Replaces each Gather of rows of a variable, on the variable's own device, by GatherVariable, so that
// the shard reads only those rows. A handle on the whole value would make the next update copy it, which
// for an embedding table costs far more than the update.
//
// It does so where no other node takes the variable's value or is ordered after its reading. Later
// updates of the variable in the same step are ordered after the gathers. prune() removes the unused
// ReadVariable.
void gather_variables(StepGraph& step);

}  // namespace actorflow
