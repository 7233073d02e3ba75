// Reading some rows of a variable instead of all of it.
#pragma once

#include "dataflow/transform/step_graph.h"

namespace actorflow {

// Puts GatherVariable in the place of each Gather of rows of a variable on the variable's own device, so
// that the shard reads only those rows. Whoever holds a handle on a whole value makes the next update
// copy it, which for an embedding table costs far more than the update.
//
// That is done where nobody else takes the variable's value or is ordered after the reading of it. Later
// updates of the variable in the same step are ordered after the gathers. The ReadVariable that is left
// over serves nobody: prune() takes it away.
void gather_variables(StepGraph& step);

}  // namespace actorflow
