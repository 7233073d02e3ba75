// EagerModel: a network of layers (actors/layers) that is called at once, for training loops of your
// own.
//
//   EagerModel model({dense(128, relu), dense(10)});
//   EagerOptimizer optimizer(Adam{0.001});
//   for (const auto& [images, labels] : batches) {
//     GradientTape tape;
//     const Output logits = model(tape.constant(images), {.training = true});
//     const Output loss = mean(softmax_cross_entropy(logits, tape.constant(labels)));
//     optimizer.apply(tape.gradients(loss, model.trained()), model.trained());
//   }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/layers/functional.h"
#include "actors/layers/layer.h"
#include "kernels/eager/eager_variable.h"
#include "kernels/eager/gradient_tape.h"

namespace actorflow {

struct EagerCall {
  bool training = false;
  // int64 scalar, another one in each training step, from which dropout draws. None: the number of
  // training calls so far, which a function that is traced cannot count.
  Output step{};
};

// Its variables have the names, behind "<name>/" if the model has one, and the first values that Model
// gives them for the same seed. A copy shares them; clone() does not. Not thread-safe.
class EagerModel {
 public:
  explicit EagerModel(const std::vector<Layer>& layers, std::uint64_t seed = 1, std::string name = {});
  explicit EagerModel(Architecture architecture, std::uint64_t seed = 1, std::string name = {});

  // A model of the same layers with variables of its own, which begin with the values of these. They
  // have this name, which checkpoints of both need.
  EagerModel clone(std::string name = {}) const;

  // The outputs for these inputs, in the inputs' graph: that of a tape, or of a function that is traced.
  // The first call makes the variables. In training, averages that layers keep change at once. Throws
  // invalid_argument, naming the layer, for inputs that it does not take.
  Output operator()(Output x, const EagerCall& call = {});
  std::vector<Output> operator()(const std::vector<Output>& inputs, const EagerCall& call = {});
  // What the layers' own losses and regularizers add to the loss: of the last call, float32 scalars.
  const std::vector<Output>& losses() const { return losses_; }

  // Makes the variables for inputs of these types, as the first call does in the context of its inputs.
  void build(const std::vector<TensorType>& inputs, EagerContext& context = EagerContext::standard());
  // In the order in which the layers made them; none before the first call.
  std::vector<EagerVariable> variables() const;
  // Without averages, and without those of frozen layers.
  std::vector<EagerVariable> trained() const;

 private:
  struct Entry {
    std::string name;  // as layers know it
    EagerVariable variable;
    bool trained;
    Regularizer regularizer;
  };

  ModelVariables read_variables() const;
  Output step_of(Graph& graph, const EagerCall& call);

  Architecture architecture_;
  std::uint64_t seed_;
  std::string prefix_;  // "<name>/"
  bool built_ = false;
  std::int64_t training_calls_ = 0;
  std::vector<Entry> entries_;
  std::vector<Output> losses_;
};

}  // namespace actorflow
