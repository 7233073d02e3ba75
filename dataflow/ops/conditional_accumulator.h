// Accumulators of gradients, as TensorFlow 1.x's ConditionalAccumulator and
// SparseConditionalAccumulator: the building block of synchronous training, for programs with rules of
// their own.
#pragma once

#include <span>
#include <string>

#include "dataflow/graph/gradient.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

enum class Reduction : std::uint8_t { mean, sum };

// An accumulator lives on the task of its device beyond any step or session, and is shared by name: two
// of the same name on one task are the same. Different types, reductions or kinds under one name fail as
// invalid_argument.
//
// It has a global step, 0 at first, and drops a gradient of an earlier local step. This class is a
// handle on nodes of its graph; copies are the same accumulator.
class ConditionalAccumulatorBase {
 public:
  // int64 scalar: the number of gradients that it holds.
  Output num_accumulated() const;
  // Sets the global step (int64 scalar): gradients of earlier local steps are dropped from now on.
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
  // Adds an accumulator on the device of the scope. Throws invalid_argument unless `dtype` is floating,
  // the shape fully known and the name not empty.
  ConditionalAccumulator(Graph& graph, DType dtype, const Shape& shape, const std::string& name,
                         Reduction reduction = Reduction::mean)
      : ConditionalAccumulatorBase(graph, dtype, shape, name, reduction, false) {}

  // Adds a gradient of the local step (int64 scalar) and returns a bool scalar, whether it counts. Never
  // waits.
  Output apply_grad(Output gradient, Output local_step) const;
  // Waits until there are `num_required` gradients (int64 scalar, 1 or more), returns the mean (or sum)
  // of all that are there, forgets them and increases the global step by 1. Waiting steps are served in
  // order; a step that is cancelled stops waiting.
  Output take_grad(Output num_required) const;
};

// Gathers row-sparse gradients of a variable of this shape.
class SparseConditionalAccumulator : public ConditionalAccumulatorBase {
 public:
  // As ConditionalAccumulator's constructor; throws invalid_argument also for a shape without rows.
  SparseConditionalAccumulator(Graph& graph, DType dtype, const Shape& shape, const std::string& name,
                               Reduction reduction = Reduction::mean)
      : ConditionalAccumulatorBase(graph, dtype, shape, name, reduction, true) {}

  Output apply_grad(const IndexedSlices& gradient, Output local_step) const;
  // The gathered rows in ascending order, each once: the sum of the gradients that have the row, divided
  // by their number for the mean. Otherwise as ConditionalAccumulator::take_grad.
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
