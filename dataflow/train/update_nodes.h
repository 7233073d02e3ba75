// What the nodes that update variables have in common. For the sources of this folder only.
#pragma once

#include <string>
#include <vector>

#include "dataflow/graph/gradient.h"
#include "dataflow/train/replica_training.h"

namespace actorflow {

inline constexpr const char* training_scope = "train";

// The attributes of an update: variable, optimizer, hyperparameters, skip_not_finite.
Attrs update_attrs(const Training& t, const Variable& variable);

// The name of a node beside a variable, outside of the scope that the variable's own name begins with.
std::string beside(const GradientAndVariable& update, const char* what);

// The gradients after Replication::transform. Throws invalid_argument if they are of other variables or
// types.
std::vector<GradientAndVariable> transformed(const Training& t,
                                             const std::vector<GradientAndVariable>& gradients);

// What the updating op takes of a gradient: the rows where it is row-sparse, so that it never becomes
// dense.
struct GradientInputs {
  bool sparse = false;
  std::vector<Output> outputs;  // the gradient, or values and indices by turns

  // `keep_rows`: false if it is to be dense in any case.
  explicit GradientInputs(Output gradient, bool keep_rows = true);
};

}  // namespace actorflow
