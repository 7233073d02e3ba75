// Optimizer updates of variables, for parameter shards.
//
// Every function computes each element in one fixed order, so that the same calls give the same bits.
// The formulas are those of TensorFlow 1.x (core/kernels/training_ops), with g the gradient and lr the
// learning rate:
//   sgd       value -= lr g
//   momentum  a = momentum a + g;  value -= lr a
//   nesterov  a = momentum a + g;  value -= lr (g + momentum a)
//   adagrad   a += g^2;  value -= lr g / sqrt(a)
//   adam      m += (1 - beta1)(g - m);  v += (1 - beta2)(g^2 - v);
//             value -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon), t = 1, 2, ...
//   rmsprop   s += (1 - decay)(g^2 - s);  a = momentum a + lr g / sqrt(s + epsilon);  value -= a
// NaN and infinity are applied like other values; the caller decides whether they may be.
#pragma once

#include <span>
#include <vector>

#include "dataflow/ops/optimizer.h"
#include "dataflow/values/tensor.h"
#include "kernels/devices/device.h"
#include "kernels/devices/team.h"

namespace actorflow {

// A variable and its optimizer's slots: one tensor per name of slot_names(), in that order. Value and
// slots live on one device, except Adam's step, which stays on the host.
struct VariableState {
  Tensor value;
  std::vector<Tensor> slots;
};

// Sets the slots to the optimizer's initial values (0; adagrad: its initial accumulator; rmsprop: a mean
// square of 1). Throws invalid_argument if the value is neither float32 nor float64.
void make_slots(const Optimizer& optimizer, VariableState& state, Device& device);

// Applies a gradient of the value's dtype and shape; gradient and state are on `device`. A tensor with
// other holders is replaced by an updated copy, so that no reader sees half an update. Throws
// invalid_argument if the types do not fit or the slots are not this optimizer's, and
// resource_exhausted; the state is then unchanged. A team shares the work on a large variable.
void apply_gradient(const Optimizer& optimizer, VariableState& state, const Tensor& gradient,
                    Device& device, Team* team = nullptr);

// Applies (g0 + g1 + ...) / count, added in this order, in one pass. Throws invalid_argument also if
// there is no gradient.
void apply_mean(const Optimizer& optimizer, VariableState& state, std::span<const Tensor> gradients,
                Device& device, Team* team = nullptr);

}  // namespace actorflow
