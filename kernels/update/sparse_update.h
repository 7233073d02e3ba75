// Optimizer updates by row-sparse gradients, such as those of embeddings: the cost depends on the rows
// of the gradient, not on the size of the variable.
//
// Of optimizers that compute each element by itself, only the rows of the gradient and their slots
// change, by the formulas of optimizer_update.h. That is
// what TensorFlow's sparse kernels do for SGD, Momentum, Adagrad and RMSProp, and its LazyAdamOptimizer
// for Adam: its plain Adam also moves every other row by its decaying momentum, at the cost of the whole
// table. A step counts updates of the variable, not of the row. Lamb and Muon need the whole variable:
// for them the gradient becomes dense.
#pragma once

#include <span>
#include <vector>

#include "dataflow/graph/op.h"
#include "kernels/update/optimizer_update.h"

namespace actorflow {

// Throws invalid_argument unless the gradient fits a variable of this type: dtype, shapes, and indices
// from 0 to rows - 1. The message names neither node nor variable. Waits for a GPU that has the indices;
// count_bad() tells of many gradients whether one is to be refused, with one wait.
void check_sparse_gradient(const TensorType& variable, const SparseGradient& gradient, Device& device);
// Throws what check_sparse_gradient() throws of dtypes and shapes. Never waits.
void check_sparse_types(const TensorType& variable, const SparseGradient& gradient);

// Applies a gradient; state and gradient are on `device`. Equal rows are added in their order before the
// formula is applied, so that the same calls give the same bits on any number of threads. State with
// other holders is copied first, as in apply_gradient(). Throws what apply_gradient() and
// check_sparse_gradient() throw; the state is then unchanged.
void apply_sparse_gradient(const BoundOptimizer& optimizer, VariableState& state,
                           const SparseGradient& gradient, Device& device, Team* team = nullptr);

// Applies the mean of several replicas' gradients: each row's sum divided by the number of the gradients
// that have the row, as TensorFlow's SparseConditionalAccumulator divides. Throws invalid_argument also
// if there is no gradient.
void apply_sparse_mean(const BoundOptimizer& optimizer, VariableState& state,
                       std::span<const SparseGradient> gradients, Device& device, Team* team = nullptr);

// Applies the mean of dense or of sparse gradients. Throws invalid_argument also if some are dense and
// some are sparse. REQUIRES: indices on a GPU, for which it does not wait, are from 0 to rows - 1.
void apply_mean(const BoundOptimizer& optimizer, VariableState& state,
                std::span<const Gradient> gradients, Device& device, Team* team = nullptr);

}  // namespace actorflow
