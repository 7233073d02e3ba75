// EagerVariable: a named tensor that lives on from tape to tape.
#pragma once

#include <memory>
#include <string>

#include "dataflow/graph/graph.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// A handle: copies are the same variable. Thread-safe: each call takes effect at once.
class EagerVariable {
 public:
  // Throws invalid_argument for an empty name and for a tensor that is none.
  EagerVariable(std::string name, Tensor initial);

  const std::string& name() const;
  TensorType type() const;
  // The value, on the device where it was computed. An update copies a value that is still held.
  Tensor read() const;
  // Throws invalid_argument unless the value has the variable's type.
  void assign(Tensor value) const;
  void expect_value(const Tensor& value) const;
  // The same with a tensor of the innermost tape; in a function that is traced the assignment takes
  // place when the graph has run.
  void assign(Output value) const;

  // Reads the variable in the innermost tape, or function that is traced, of this thread; so a variable
  // stands wherever an op takes a tensor. Throws failed_precondition if there is none.
  operator Output() const;  // NOLINT: a variable is read wherever a tensor is wanted
  // The same as a Variable of the tape's or the function's graph, for what takes one:
  // Graph::assign_add().
  Variable in_graph() const;
  bool is(const EagerVariable& other) const { return state_ == other.state_; }

  struct State;
  // For this room.
  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace actorflow
