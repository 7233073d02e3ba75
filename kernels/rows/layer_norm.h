// What a normalisation of layers computes, on a CPU or a GPU. Internal to kernels/rows.
#pragma once

#include "kernels/loops/rows.h"

namespace actorflow {

// What a row is normalised with: (x - mean) * scale.
template <class T>
struct RowMoments {
  T mean, scale;
};

// y = (x - mean) * scale * gamma + beta; gamma and beta have a value per column.
template <class T>
struct LayerNormForward {
  Rows size;
  double epsilon;
  const T *x, *gamma, *beta;
  T* y;
};

// g is the gradient of y; the gradients of x, gamma and beta are written.
template <class T>
struct LayerNormBackward {
  Rows size;
  double epsilon;
  const T *g, *x, *gamma;
  T *dx, *dgamma, *dbeta;
};

}  // namespace actorflow
