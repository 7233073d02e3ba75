// Accumulators that programs gather gradients in, as TensorFlow 1.x's ConditionalAccumulator and
// SparseConditionalAccumulator: what synchronous training is made of, for programs with rules of their own.
#pragma once

#include <span>
#include <string>

#include "dataflow/graph/gradient.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

enum class Reduction : std::uint8_t { mean, sum };

// Lives on the task of its device beyond any step or session, and is shared by name: whoever makes one
// of the same name on the same task has the same. Types, reductions and kinds that differ fail as
// invalid_argument.
//
// It has a global step, 0 at first: a gradient of an earlier local step is dropped. A handle on nodes of
// its graph; copies are the same accumulator.
class ConditionalAccumulatorBase {
 public:
  // int64 scalar: how many gradients are there.
  Output num_accumulated() const;
  // Only gradients of that local step (int64 scalar) or later count from now on.
  Output set_global_step(Output step) const;

  const std::string& name() const { return name_; }
  const std::string& device() const { return device_; }

 protected:
  ConditionalAccumulatorBase(Graph& graph, DType dtype, const Shape& shape, const std::string& name,
                             Reduction reduction, bool sparse);
  Output add(const OpDef& op, const std::vector<Output>& inputs) const;

 private:
  Graph* graph_;
  std::string name_, device_;
  Attrs attrs_;
};

class ConditionalAccumulator : public ConditionalAccumulatorBase {
 public:
  // On the device of the scope. Throws invalid_argument unless `dtype` is floating, the shape fully
  // known and the name not empty.
  ConditionalAccumulator(Graph& graph, DType dtype, const Shape& shape, const std::string& name,
                         Reduction reduction = Reduction::mean)
      : ConditionalAccumulatorBase(graph, dtype, shape, name, reduction, false) {}

  // bool scalar: whether the gradient counts. local_step: int64 scalar. Never waits.
  Output apply_grad(Output gradient, Output local_step) const;
  // The mean (or sum) of all gradients that are there, once there are `num_required` (int64 scalar, 1 or
  // more). It forgets them and moves the global step on by 1. First come, first served; a step that is
  // cancelled waits no longer.
  Output take_grad(Output num_required) const;
};

// Gathers row-sparse gradients of a variable of this shape.
class SparseConditionalAccumulator : public ConditionalAccumulatorBase {
 public:
  // As ConditionalAccumulator; throws invalid_argument also for a shape without rows.
  SparseConditionalAccumulator(Graph& graph, DType dtype, const Shape& shape, const std::string& name,
                               Reduction reduction = Reduction::mean)
      : ConditionalAccumulatorBase(graph, dtype, shape, name, reduction, true) {}

  Output apply_grad(const IndexedSlices& gradient, Output local_step) const;
  // Rows in ascending order, each once: the sum of the gradients that have the row, divided by their
  // number for the mean. Else as ConditionalAccumulator's.
  IndexedSlices take_grad(Output num_required) const;
};

// Their ops, which the shard does. Attrs of all: variable (its name), dtype, shape, reduction ("mean",
// "sum"), sparse (whether its gradients are rows).
const OpDef& accumulator_apply_op();  // (gradient, local_step int64) -> bool
const OpDef& accumulator_take_op();   // (num_required int64) -> gradient
// (values [n, ...], indices int64 [n], local_step int64) -> bool
const OpDef& accumulator_apply_sparse_op();
const OpDef& accumulator_take_sparse_op();  // (num_required int64) -> values, indices
const OpDef& accumulator_size_op();         // () -> int64
const OpDef& accumulator_set_step_op();     // (step int64) -> ()

std::span<const OpDef* const> accumulator_ops();

}  // namespace actorflow
