// A layer of a model by its name: its weights, whether it learns, and its result, from which another
// model may go on.
//
//   Model model({base.architecture().inputs[0]}, {dense(3)(base.get_layer("flatten").output())});
//   model.get_layer("conv2d").set_weights(base.get_layer("conv2d").weights());
//   model.get_layer("conv2d").set_trainable(false);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "actors/layers/functional.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

struct ModelEngine;

// Not thread-safe. REQUIRES: the model lives. Throws Error as Model does.
class ModelLayer {
 public:
  // For Model::get_layer(). Throws not_found, with the names that there are.
  ModelLayer(ModelEngine& engine, std::string name);

  const std::string& name() const { return name_; }
  // Throws failed_precondition for a layer that the model uses several times.
  SymbolicTensor output() const;

  // By their names within the layer, such as "weights" and "biases"; averages included.
  std::map<std::string, Tensor> weights() const;
  // Throws invalid_argument, with all differences, unless these are all of the layer's.
  void set_weights(const std::map<std::string, Tensor>& weights);

  bool trainable() const;
  // A frozen layer has no gradients, slots, penalties and updates; batch_norm uses its averages, in
  // training, too, and leaves them as they are; dropout drops as before. The model keeps its weights and
  // its learning rate; steps and slots begin anew, as after compile(). Throws failed_precondition during
  // a fit(), and all replicas of a cluster must freeze the same.
  void set_trainable(bool trainable);

 private:
  ModelEngine& engine_;
  std::string name_;
  std::vector<SymbolicTensor> results_;
};

}  // namespace actorflow
