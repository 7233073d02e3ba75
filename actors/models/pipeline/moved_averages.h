// The averages of layers, such as batch_norm's, which each micro-batch moves on, and no step for which
// its replica has no data.
#pragma once

#include <cstddef>

#include "actors/layers/layer.h"

namespace actorflow {

struct MovedAverage {
  Output update;          // a target of the step
  std::size_t entry = 0;  // of the ModelVariables
  Variable after;         // the variable with its value after the update
};

// The update of an average that a layer has added, as one that begins with the value that `variables`
// have, which an earlier micro-batch of the step may have left, and that changes nothing unless
// `counts`, a bool scalar. Throws invalid_argument for an update that is no assignment to a variable of
// the model.
MovedAverage move_average(const ModelVariables& variables, Output update, Output counts);

}  // namespace actorflow
