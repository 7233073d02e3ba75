// A model in a session: that of its own process, or of a cluster that trains it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/checkpoint/saver.h"
#include "actors/models/model_graph.h"
#include "actors/runtime/runtime.h"

namespace actorflow {

// What training leaves besides the weights, for a later fit() that goes on elsewhere.
struct TrainedState {
  std::map<std::string, Tensor> variables;  // the trained ones, with their slots: see read_state()
  std::optional<double> learning_rate{};    // none: optimizers have different ones
};

// Uses the nodes of a model for everything besides training. Adds nodes of its own to the graph. Not
// thread-safe. REQUIRES: nodes and runtime outlive this, and so does each session.
class ModelSession {
 public:
  ModelSession(ModelGraph& nodes, Runtime& runtime);

  ModelGraph& nodes() const { return nodes_; }
  Runtime& runtime() const { return runtime_; }
  Storage& storage() const { return runtime_.storage(); }
  // The session of all calls below, and whether it will stay the same.
  void use(Session& session, bool for_good);
  Session& session() const { return *session_; }

  std::map<std::string, Tensor> weights();
  // Throws invalid_argument, with all differences, unless these are all of the model's variables.
  void set_weights(const std::map<std::string, Tensor>& weights);
  // REQUIRES of set_state(): the state is that of the same model.
  TrainedState state();
  // Weights, state and global step, of one instant and so of one step as a checkpoint is
  // (Saver::keep_to_read()), also while other replicas train.
  struct OneStep {
    std::map<std::string, Tensor> weights;
    TrainedState state;
    std::int64_t step = 0;
  };
  OneStep of_one_step();
  void set_state(const TrainedState& state);
  // Whether set_weights() or load() has given the model other weights since the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  // Throws what ModelGraph::expect_one_rate() throws.
  void set_learning_rate(double rate);
  void set_global_step(std::int64_t step);
  // Values of a batch: the loss, then the metrics. REQUIRES: nodes().can_test().
  std::vector<Tensor> test(Tuple batch);
  // The outputs for a batch of inputs.
  std::vector<Tensor> predict(Tuple inputs);
  // Saves with this progress; load() returns that of the newest whole checkpoint, none if there is none,
  // and sets `extra`, if given, to the extra state in it.
  void save(const std::string& folder, const FitProgress& progress, const KeepOptions& keep,
            const ExtraState& extra);
  std::optional<FitProgress> load(const std::string& folder, ExtraState* extra);

 private:
  struct Assignment {
    Output value, assign;
  };
  Assignment assignment_of(const Variable& variable) const;
  void add_states();
  void add_kept();
  void assign(const Assignment& assignment, Tensor value);
  std::vector<Tensor> run(std::optional<Callable>& callable, const std::vector<Output>& fetches,
                          const std::vector<Output>& placeholders, Tuple values);

  ModelGraph& nodes_;
  Runtime& runtime_;
  Saver saver_;
  std::vector<Assignment> weights_;  // in the order of the variables
  std::vector<Output> read_states_;  // in the order of the trained variables
  std::vector<Output> kept_;         // in the order of the variables: value and state of each
  std::vector<Assignment> states_;
  Assignment rate_, step_, progress_;
  Session* session_ = nullptr;
  bool for_good_ = false;
  bool changed_ = false;
  std::optional<Callable> test_, predict_;
};

}  // namespace actorflow
