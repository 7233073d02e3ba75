// The rectifier and its gradient, one element at a time: alone in unary.cu, fused in fused_dense.cu.
#pragma once

#include "kernels/devices/host_device.h"

namespace actorflow {

// NaN stays NaN.
struct Relu {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return x < 0 ? T(0) : x;
  }
};

// In the place of a rectifier: none.
struct Same {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T x) const {
    return x;
  }
};

// The input's gradient, from the output's gradient g and the output y.
struct ReluGrad {
  template <class T>
  ACTORFLOW_HOST_DEVICE T operator()(T g, T y) const {
    return y > 0 ? g : T(0);
  }
};

}  // namespace actorflow
