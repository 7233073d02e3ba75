// The state of a Model: its architecture and, once the types of its examples are known, a graph with a
// session. For this folder only.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/models/model.h"
#include "actors/models/model_graph.h"
#include "actors/models/model_session.h"
#include "actors/task/server.h"

namespace actorflow {

// How a step in this process trains. There are few: each has a plan, for as long as the graph.
struct StepForm {
  std::int64_t parts = 1;  // into which it divides its batch
  bool weighted = false;   // examples have a weight besides what CompileOptions say

  auto operator<=>(const StepForm&) const = default;
};

// A form of step with the plan of its session.
struct TrainingStep {
  StepNodes nodes;
  Callable plan;
};

struct ModelEngine {
  explicit ModelEngine(Architecture architecture, std::shared_ptr<Runtime> runtime = nullptr);

  // Throws failed_precondition if the model has not been compiled.
  const CompileOptions& compiled() const;
  // The build functions make what is missing, in this process. Types are those of one example.
  void build(const std::vector<TensorType>& inputs);
  void build_testing(const std::vector<TensorType>& example);
  // The example is one without the weight that the form adds. The step is there until the model is
  // built anew, for compile() or set_trainable().
  TrainingStep& build_training(const std::vector<TensorType>& example, const StepForm& form);
  // The types of inputs and labels of an example. Throws invalid_argument if there are too many or few,
  // and for a weight that is no number.
  struct ExampleTypes {
    std::vector<TensorType> inputs, labels;
  };
  ExampleTypes divided(const std::vector<TensorType>& example) const;
  // Types that the model takes, from those of the data or, if there are none, from input().
  std::vector<TensorType> types_of_inputs(const std::vector<TensorType>& given) const;

  // Gives the inputs of the architecture the types that were learned from data. Tensors of it that were
  // taken before belong to the one without types. Does nothing during a fit(), which uses it.
  void learn_inputs();

  // Model::weights() and Model::set_weights().
  std::map<std::string, Tensor> weights();
  void set_weights(const std::map<std::string, Tensor>& weights);

  // Model::save() and Model::load(), with extra state.
  void save(const std::string& folder, const KeepOptions& keep, const ExtraState& extra = {});
  void load(const std::string& folder, ExtraState* extra = nullptr);

  // The session of the cluster that trains now, else that of this process. Throws failed_precondition if
  // the model was not built.
  ModelSession& session() const;
  // The runtime whose threads read data; null: threads of their own.
  std::shared_ptr<Runtime> threads() const { return local ? local->server.runtime() : runtime; }
  // Takes over the weights that a cluster has trained and, if it is known, what a later fit() needs.
  void adopt(const std::vector<TensorType>& inputs, std::map<std::string, Tensor> weights,
             std::optional<TrainedState> state);
  // The training steps so far, and how many they are now.
  std::int64_t steps() const;
  void set_steps(std::int64_t steps);
  // The learning rate that was set since compile(); none where the optimizer or a schedule says it. What
  // a cluster has left counts as set.
  std::optional<double> own_rate() const;
  // Drops the graph, and keeps the weights for the next one. The steps begin anew, as the slots do.
  void rebuild_later();
  // Throws failed_precondition, of what needs trained weights, if the last fit() has given none.
  void expect_weights(std::string_view what) const;
  // Throws failed_precondition during a fit(), as in a callback, of what would change its graph.
  void expect_no_fit(std::string_view what) const;

  Architecture architecture;
  const std::shared_ptr<Runtime> runtime;  // whose threads compute; null: threads of its own
  std::optional<CompileOptions> options;
  FitProgress progress;
  std::map<std::string, Tensor> kept_weights;  // of an earlier graph
  std::optional<TrainedState> kept_state;
  std::int64_t kept_steps = 0;                 // where there is no graph yet
  std::vector<TensorType> learned_inputs;      // their types, known from data
  std::string stages;                          // the last pipeline's, for people; "" if there was none
  std::optional<double> wanted_rate;           // that was set before there was a graph
  ModelSession* of_cluster = nullptr;          // while one trains
  bool in_fit = false;
  bool lacks_weights = false;  // the last fit() has left the weights at another task

  // In this process.
  struct Local {
    Local(const Architecture& made, std::vector<TensorType> inputs, const CompileOptions* options,
          std::optional<double> rate, const std::shared_ptr<Runtime>& runtime);

    const Architecture architecture;  // that of the nodes, whatever the model's inputs learn later
    Graph graph;
    ModelGraph nodes;
    Server server;
    ModelSession in_session;
    std::unique_ptr<Session> session;  // its graph is complete, but for testing and training
    std::map<StepForm, TrainingStep> steps;
  };
  std::unique_ptr<Local> local;
};

}  // namespace actorflow
