// Layers: functions from tensors to tensors, with named variables.
//
//   Layer scaled("scaled", [](LayerScope& scope, Output x) {
//     return x * scope.weight("scale", {x.shape()[1]}, ones());
//   });
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/layers/initializer.h"
#include "actors/layers/regularizer.h"
#include "dataflow/graph/graph.h"
#include "dataflow/values/check.h"

namespace actorflow {

class LayerScope;
class SymbolicTensor;

// Copies of a layer are the same layer: where a model uses it twice, both places share its variables.
class Layer {
 public:
  // The function is called for each graph that a model builds: of training, and of testing.
  using Function = std::function<Output(LayerScope& scope, Output x)>;
  using FunctionOfSeveral = std::function<Output(LayerScope& scope, const std::vector<Output>& inputs)>;

  // `kind` names the layers of a model: "dense", "dense_1", ... A layer of one input, and one of
  // several.
  Layer(std::string kind, Function function);
  Layer(std::string kind, FunctionOfSeveral function);

  // The same function as another layer, with this name.
  Layer named(std::string name) const;
  const std::string& kind() const { return def_->kind; }
  const std::string& name() const { return def_->name; }  // "" if the model is to choose one
  bool operator==(const Layer& other) const { return def_ == other.def_; }

  // The result of the layer in a model of the functional form (functional.h).
  SymbolicTensor operator()(const SymbolicTensor& input) const;
  SymbolicTensor operator()(const std::vector<SymbolicTensor>& inputs) const;

  // Throws invalid_argument, naming the layer, if it does not take these inputs. For LayerScope.
  Output build(LayerScope& scope, const std::vector<Output>& inputs) const;

 private:
  struct Def {
    std::string kind, name;
    FunctionOfSeveral function;
  };
  explicit Layer(std::shared_ptr<const Def> def) : def_(std::move(def)) {}

  std::shared_ptr<const Def> def_;
};

// The variables of a model in one graph, in the order in which its layers made them.
struct ModelVariables {
  struct Entry {
    std::string name;  // as layers know it: the variable's own, unless a graph has several models
    Variable variable;
    bool trained = true;
    Regularizer regularizer{};
  };
  std::vector<Entry> entries;

  const Entry* find(std::string_view name) const;
  std::vector<Variable> all() const;
  std::vector<Variable> trained() const;
};

// The names of layers side by side: their own, or their kind with a number.
class LayerNames {
 public:
  // Throws invalid_argument for another layer that has the same name of its own.
  const std::string& of(const Layer& layer);

 private:
  std::vector<std::pair<Layer, std::string>> names_;
};

// A layer in a graph, for Model::summary().
struct LayerRecord {
  std::string name, kind;
  TensorType result;
  bool trainable = true;
};

// What a model adds to a graph at one time.
struct ModelPass {
  Graph& graph;
  ModelVariables& variables;
  std::uint64_t seed = 0;
  bool training = false;
  Output step{};                      // int64 scalar, another one in each training step; for random ops
  std::vector<Output> updates{};      // of averages that training keeps: to be run with each step
  std::vector<Output> losses{};       // float32 scalars besides the model's own loss
  std::vector<LayerRecord> layers{};  // the outermost ones
  std::set<std::string> frozen{};     // the names of outermost layers that do not learn
  // Of tensors that have one: see LayerScope::mask(). Empty: none, although an input has one.
  std::map<Edge, Output> masks{};

  Output mask(Output x) const;
};

// The place of a layer in a model: what its function may use.
class LayerScope {
 public:
  // The scope of a whole model.
  explicit LayerScope(ModelPass& pass) : pass_(pass) {}

  Graph& graph() const { return pass_.graph; }
  // True: the layer is to behave as in training (dropout, statistics of the batch).
  bool training() const { return pass_.training; }
  // False: the layer does not learn, nor do those within it. Its weights are as averages: without
  // gradients, slots and penalties. A layer that keeps averages leaves them as they are, and uses them
  // in training, too.
  bool trainable() const { return trainable_; }
  // int64 scalar: the counter of random ops. REQUIRES: training().
  Output step() const {
    ACTORFLOW_CHECK(training(), "the step of a layer that does not train");
    return pass_.step;
  }
  // Another seed at each call, the same in each graph.
  std::uint64_t seed();

  // The layer's variable of this name, float32. It is made when the layer is first called, and the same
  // in all graphs. Throws invalid_argument, with both shapes, if it was made with another one.
  Variable weight(std::string_view name, const Shape& shape, const Initializer& initial,
                  const Regularizer& regularizer = {});
  // The same for one that is not trained, such as a moving average.
  Variable average(std::string_view name, const Shape& shape, const Initializer& initial);
  // Runs with each training step.
  void update(Output assignment) { pass_.updates.push_back(assignment); }
  // Adds a float32 scalar to the loss.
  void add_loss(Output loss) { pass_.losses.push_back(loss); }

  // The mask of a tensor [batch, steps, ...], bool [batch, steps]: false where an example, which is
  // shorter than others, has no step. Empty if the tensor has none. A mask goes on by itself from the
  // inputs of a layer to a result [batch, steps, ...] of as many steps: where several inputs have one,
  // a step counts that one of them has; where one has none, the result has none. The loss leaves out
  // masked steps, if it has a value for each step.
  Output mask(Output x) const { return pass_.mask(x); }
  // Gives the result of this layer another mask, or none: for layers whose steps are not their input's.
  void set_mask(Output x, Output mask) { pass_.masks[x.edge] = mask; }

  // The result of a layer within this one. Its variables are named after both.
  Output apply(const Layer& layer, Output x) { return apply(layer, std::vector<Output>{x}); }
  Output apply(const Layer& layer, const std::vector<Output>& inputs);

 private:
  LayerScope(ModelPass& pass, std::string prefix, bool trainable)
      : pass_(pass), prefix_(std::move(prefix)), trainable_(trainable) {}

  Variable variable(std::string_view name, const Shape& shape, const Initializer& initial, bool trained,
                    const Regularizer& regularizer);

  ModelPass& pass_;
  std::string prefix_;  // "block/", or "" of the model
  bool trainable_ = true;
  std::uint64_t seeds_ = 0;
  LayerNames names_;
};

}  // namespace actorflow
