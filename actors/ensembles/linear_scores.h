// A linear map: what the regressions of stacking have learned.
#pragma once

#include "dataflow/values/tensor.h"

namespace actorflow {

struct LinearScores {
  Tensor weights;  // float64 [features, outputs]
  Tensor bias;     // float64 [outputs]

  // float64 [n, outputs] of features, float64 [n, features]. Throws failed_precondition if what was
  // learned is of other features.
  Tensor operator()(const Tensor& features) const;
};

}  // namespace actorflow
