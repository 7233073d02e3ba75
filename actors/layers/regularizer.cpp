#include "actors/layers/regularizer.h"

#include "kernels/ops.h"

namespace actorflow {

Regularizer l1(double factor) {
  return [factor](Output weights) { return sum(abs(weights)) * factor; };
}

Regularizer l2(double factor) {
  return [factor](Output weights) { return sum(square(weights)) * factor; };
}

Regularizer l1_l2(double l1_factor, double l2_factor) {
  return [=](Output weights) { return l1(l1_factor)(weights) + l2(l2_factor)(weights); };
}

}  // namespace actorflow
