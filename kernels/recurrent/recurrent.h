// Recurrent layers as ops: a cell over all steps of a sequence, with the arithmetic of Keras 3.
//
// Tensors are time-major: inputs [steps, batch, gates * units] are what each step's input gives the
// gates, weights and biases applied, computed for all steps at once; the result [steps, batch, units]
// has the state after each step. States begin as zeros. Floating; no second derivative.
#pragma once

#include <string>

#include "dataflow/graph/graph.h"

namespace actorflow {

struct RecurrentOptions {
  std::string activation = "tanh";  // or "sigmoid", "relu", "linear"; gates are sigmoids
  bool backwards = false;           // from the last step to the first; results stay at their steps
  Output mask{};                    // bool [steps, batch]: where false, the state stays as it was
};

// h = f(inputs + h recurrent). recurrent: [units, units].
Output simple_rnn(Output inputs, Output recurrent, const RecurrentOptions& options = {});
// Hochreiter and Schmidhuber (1997) with forget gates. Gates: input, forget, candidate, output.
// recurrent: [units, 4 units].
Output lstm(Output inputs, Output recurrent, const RecurrentOptions& options = {});
// Cho et al. (2014), as cuDNN computes it (Keras: reset_after): the reset gate multiplies the
// candidate's product with the state. Gates: update, reset, candidate. recurrent: [units, 3 units];
// recurrent_biases: [3 units], added to the product of the state.
Output gru(Output inputs, Output recurrent, Output recurrent_biases,
           const RecurrentOptions& options = {});

}  // namespace actorflow
