// Recurrent layers: over sequences [batch, steps, features] of a known number of steps.
//
//   Model model = sequential({bidirectional(gru(32, {.return_sequences = true})), lstm(64), dense(1)});
//
// Their arithmetic and the layout of their weights are Keras 3's. Where a sequence has a mask
// (LayerScope::mask) the state stays as it was at the steps that are none.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "actors/layers/activation.h"
#include "actors/layers/initializer.h"
#include "actors/layers/layer.h"
#include "actors/layers/regularizer.h"

namespace actorflow {

struct RecurrentLayerOptions {
  bool return_sequences = false;  // the state after each step, and not after the last one only
  bool go_backwards = false;      // from the last step to the first; so are the states in order
  double dropout = 0;             // of the inputs: the same features at all steps of an example
  Activation activation = tanh;   // or relu, sigmoid, or none: Activation()
  bool bias = true;
  Initializer weights = glorot_uniform();        // of the inputs
  Initializer recurrent_weights = orthogonal();  // of the state
  Initializer biases{};                          // none: zeros, but ones for the forget gates of an lstm
  Regularizer regularizer{};                     // of the weights
  Regularizer recurrent_regularizer{};           // of the recurrent weights
};

// A recurrent layer, which bidirectional() may turn round.
class RecurrentLayer : public Layer {
 public:
  // Makes the layer of that direction. `in_place`: states stay at their steps, also backwards.
  using Make = std::function<Layer(bool backwards, bool in_place)>;

  RecurrentLayer(const Make& make, bool backwards)
      : Layer(make(backwards, false)), make_(make), backwards_(backwards) {}

  // The same layer with weights of its own, in its direction or the other one, its states in place.
  Layer in_place(bool turned) const { return make_(backwards_ != turned, true); }

 private:
  Make make_;
  bool backwards_;
};

// [batch, steps, features] -> [batch, units], or [batch, steps, units] with return_sequences.
// Variables: weights [features, gates units], recurrent_weights [units, gates units], biases.
//
// Elman (1990): f(x weights + state recurrent_weights + biases). One gate.
RecurrentLayer simple_rnn(std::int64_t units, const RecurrentLayerOptions& options = {});
// Hochreiter and Schmidhuber (1997) with forget gates. Gates: input, forget, candidate, output.
RecurrentLayer lstm(std::int64_t units, const RecurrentLayerOptions& options = {});
// Cho et al. (2014), with the reset gate after the product, as Keras' default. Gates: update, reset,
// candidate. biases: [2, 3 units], of the inputs and of the state.
RecurrentLayer gru(std::int64_t units, const RecurrentLayerOptions& options = {});

// The layer in both directions, with weights of their own under the names "forward_..." and
// "backward_...", and their results merged: side by side, or by a layer of two inputs such as add().
Layer bidirectional(const RecurrentLayer& layer);
Layer bidirectional(const RecurrentLayer& layer, const Layer& merge);

}  // namespace actorflow
