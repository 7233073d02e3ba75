// The functional form of models, for several inputs and outputs, branches and shared layers:
//
//   const SymbolicTensor image = input({28, 28, 1});
//   const SymbolicTensor features = dense(128, relu)(flatten()(image));
//   Model model({image}, {dense(10)(features), dense(1)(features)});
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/layers/layer.h"

namespace actorflow {

// A tensor of a model that is in no graph yet: an input, or the result of a layer. Copies are the same
// tensor.
class SymbolicTensor {
 public:
  struct Def {
    std::optional<Layer> layer{};  // none: an input
    std::vector<SymbolicTensor> inputs{};
    // Of an input: the type of one example, without the batch's dimension; its dtype is `invalid` until
    // data tell it.
    TensorType type{};
    std::string name{};
  };
  explicit SymbolicTensor(Def def) : def_(std::make_shared<const Def>(std::move(def))) {}

  const Def& def() const { return *def_; }
  bool operator==(const SymbolicTensor& other) const { return def_ == other.def_; }

 private:
  std::shared_ptr<const Def> def_;
};

// An input: examples of this shape, without the batch's dimension. The name is that of the exported
// model's input; "" = "x", "x_1", ...
SymbolicTensor input(const Shape& shape, DType dtype = DType::float32, std::string name = "");

// What a model computes: its inputs, its outputs and all layers in between.
struct Architecture {
  std::vector<SymbolicTensor> inputs, outputs;
  std::set<std::string> frozen{};  // the names of outermost layers that do not learn

  // Adds the architecture to the pass's graph and returns its outputs. `inputs` are in the order of
  // Architecture::inputs. Throws invalid_argument, naming the layer and what it got, for an output that
  // needs another input, and for a frozen layer that is none.
  std::vector<Output> build(ModelPass& pass, const std::vector<Output>& inputs) const;
};

// Layers one after the other.
Architecture chain(const std::vector<Layer>& layers, std::optional<SymbolicTensor> input = {});

}  // namespace actorflow
