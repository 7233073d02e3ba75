// Optimizer updates of variables, for parameter shards.
//
// Every function computes each element in one fixed order, so that the same calls give the same bits.
// The formulas, with g the gradient and lr the learning rate:
//   sgd       value -= lr g
//   momentum  a = momentum a + g;  value -= lr a
//   nesterov  a = momentum a + g;  value -= lr (g + momentum a)
//   adagrad   a += g^2;  value -= lr g / sqrt(a)
//   adam      m += (1 - beta1)(g - m);  v += (1 - beta2)(g^2 - v);
//             value -= lr sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon), t = 1, 2, ...
//   rmsprop   s += (1 - decay)(g^2 - s);  a = momentum a + lr g / sqrt(s + epsilon);  value -= a
//   adamw     value -= lr weight_decay value;  m, v as adam;
//             value -= lr / (1 - beta1^t) m / (sqrt(v / (1 - beta2^t)) + epsilon)
//   lion      u = sign(beta1 m + (1 - beta1) g);  m += (1 - beta2)(g - m);
//             value -= lr (u + weight_decay value)
//   ftrl      l += g - (sqrt(a + g^2) - sqrt(a)) / lr value;  a += g^2;
//             value = |l| <= l1 ? 0 : (sign(l) l1 - l) / (sqrt(a) / lr + 2 l2)
//   lamb      m, v as adam;  r = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) +
//             weight_decay value;  value -= lr |value| / |r| r, where a norm of 0 makes the quotient 1
//   muon      b = momentum b + (1 - momentum) g;  u = the orthogonal matrix near momentum b +
//             (1 - momentum) g;  value -= lr (weight_decay value + sqrt(max(1, out / in)) u)
// The first six are TensorFlow's (core/kernels/training_ops), the others their authors'. NaN and
// infinity are applied like other values; the caller decides whether they may be.
#pragma once

#include <span>
#include <vector>

#include "kernels/update/optimizer_rule.h"

namespace actorflow {

// Sets the slots to the optimizer's initial values. Throws invalid_argument if the value is neither
// float32 nor float64.
void make_slots(const BoundOptimizer& optimizer, VariableState& state, Device& device);

// Throws invalid_argument unless the value is floating and the slots are this optimizer's.
void check_state(const BoundOptimizer& optimizer, const VariableState& state);

// Applies a gradient of the value's dtype and shape; gradient and state are on `device`. A tensor with
// other holders is replaced by an updated copy, so that no reader sees half an update. Throws
// invalid_argument if the types do not fit or the slots are not this optimizer's, and
// resource_exhausted; the state is then unchanged. A team shares the work on a large variable.
void apply_gradient(const BoundOptimizer& optimizer, VariableState& state, const Tensor& gradient,
                    Device& device, Team* team = nullptr);

// Applies (g0 + g1 + ...) / count, added in this order, in one pass. Throws invalid_argument also if
// there is no gradient.
void apply_mean(const BoundOptimizer& optimizer, VariableState& state, std::span<const Tensor> gradients,
                Device& device, Team* team = nullptr);

}  // namespace actorflow
