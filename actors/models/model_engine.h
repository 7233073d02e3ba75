// What a Model holds: its network, and once the types of its examples are known, a graph with a session.
// For this folder only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/saver.h"
#include "actors/models/model.h"
#include "actors/models/model_graph.h"
#include "actors/task/server.h"

namespace actorflow {

struct ModelEngine {
  explicit ModelEngine(Network network);

  // Throws failed_precondition if the model has not been compiled.
  const CompileOptions& compiled() const;
  // Make what is missing. Types are those of one example.
  void build(const std::vector<TensorType>& inputs);
  void build_testing(const std::vector<TensorType>& example);
  void build_training(const std::vector<TensorType>& example);
  // Throws failed_precondition if the model was not built.
  ModelGraph& built() const;
  void assign(const std::map<std::string, Tensor>& values);
  void save(const std::string& folder);
  // Returns false if there is no checkpoint.
  bool load(const std::string& folder);
  // Forgets the graph, and keeps the weights for the next one.
  void rebuild_later();

  Network network;
  std::optional<CompileOptions> options;
  double learning_rate = 0;  // fed to each step
  FitProgress progress;
  std::map<std::string, Tensor> kept_weights;  // of an earlier graph

  // In the order in which they must end, the last one first.
  std::unique_ptr<Server> server;
  std::unique_ptr<ModelGraph> graph;
  std::unique_ptr<Session> session;
  std::optional<Saver> saver;
  // Of all variables, in their order, then of the progress and the saved learning rate.
  std::vector<Output> assign_values, assignments;
  std::optional<Callable> train, test, predict;

 private:
  void add_assignment(const Variable& variable);
  std::vector<TensorType> types_of_inputs(const std::vector<TensorType>& given) const;
};

}  // namespace actorflow
