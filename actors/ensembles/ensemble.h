// Ensembles: several models that learn the same task, and answer together.
//
//   Model model = sequential({flatten(), dense(64, relu), dense(10)});
//   model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.001}});
//   Ensemble eight = ensemble(model, {.members = 8});
//   eight.fit({images, labels}, {.epochs = 3});
//   const Tensor classes = eight.predict(test_images);
//
// Members are work for whichever thread is free, and, given a Job (actors/jobs/job.h), for whichever
// task: each of them is a part of the job, whose result is its weights. A part that is lost runs again,
// and computes the same bits. Names follow scikit-learn's ensemble module.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble_options.h"
#include "actors/models/model.h"

namespace actorflow {

class Job;
struct EnsembleState;

// How well an ensemble answers.
struct EnsembleScore {
  std::string metric;             // "accuracy" of classes, "mean_squared_error" of numbers
  double ensemble = 0;            // of all together
  std::vector<double> members{};  // of each alone
  Tensor predicted{};             // what predict() gives for these examples
  // By how much the ensemble is better than its members are in the mean.
  double gain() const;
};

// What loading does with a member whose file is damaged or missing.
enum class DamagedMembers : std::uint8_t { refused, left_out };

// Not thread-safe. Everything throws Error: invalid_argument for what does not fit the models,
// failed_precondition for calls before fit() or load(), and what training and steps throw.
//
// Calls with a job are made by each of its tasks, with the same arguments; all of them have the result.
class Ensemble {
 public:
  Ensemble(std::vector<std::reference_wrapper<const Model>> models, const EnsembleOptions& options);
  Ensemble(Ensemble&&) noexcept;
  Ensemble& operator=(Ensemble&&) noexcept;
  ~Ensemble();

  // Trains all members anew, each on one thread, member i with the seed of CompileOptions plus i. Reads
  // all examples into memory. The log says when a member begins, every few seconds how far it is, and
  // when it is trained, unless FitOptions say Verbosity::silent. Throws invalid_argument for a strategy,
  // since a member trains in one place, and for callbacks, which EnsembleOptions makes for each member.
  void fit(const TrainingData& data, const FitOptions& options = {});
  void fit(const TrainingData& data, const FitOptions& options, Job& job);

  // The ensemble's answers for examples in rows: the classes, int64 [n]; where members predict numbers,
  // their mean or what stacking makes of them, float64. `x` is the models' only input, `inputs` are all
  // inputs.
  Tensor predict(const Tensor& x);
  Tensor predict(const Tensor& x, Job& job);
  Tensor predict(const std::vector<Tensor>& inputs);
  Tensor predict(const std::vector<Tensor>& inputs, Job& job);
  // The probabilities of the classes, float64 [n, classes]. Throws invalid_argument for hard votes and
  // for members that predict numbers.
  Tensor predict_proba(const Tensor& x);
  Tensor predict_proba(const Tensor& x, Job& job);
  Tensor predict_proba(const std::vector<Tensor>& inputs);
  Tensor predict_proba(const std::vector<Tensor>& inputs, Job& job);
  EnsembleScore evaluate(const TrainingData& data);
  EnsembleScore evaluate(const TrainingData& data, Job& job);

  // Bagging: the score on the training examples, each answered by the members that have not learned it.
  // None for other methods, and if every example was learned by all members.
  std::optional<double> oob_score() const;
  // What training has measured: of the members that were trained in full, by number.
  const std::vector<History>& histories() const;
  // How members answer: never `automatic`.
  Vote vote() const;
  // The numbers of the members, without those that load() has left out.
  std::vector<int> members() const;
  // The weights of a member. Throws not_found.
  const std::map<std::string, Tensor>& weights(int member) const;

  // Writes a checkpoint for each member, folder/member-<i>, and folder/vote.
  void save(const std::string& folder) const;
  // Returns what was left out, a line with name and reason each. Throws data_loss that names damaged and
  // missing members, or if no member is whole; failed_precondition for another ensemble's folder.
  std::vector<std::string> load(const std::string& folder,
                                DamagedMembers damaged = DamagedMembers::refused);
  // Writes folder/model.onnx, all members with their vote as one model: input "x" (others "x_1",
  // ...), output "y" as predict() has it, and "probabilities" (float32) where predict_proba() is.
  void export_onnx(const std::string& folder) const;

 private:
  std::unique_ptr<EnsembleState> state_;
};

// Members that are copies of a compiled model, or of several in turn, which may differ in all but the
// types of input and output. Models are copied without their weights, but for those of frozen layers.
Ensemble ensemble(const Model& model, const EnsembleOptions& options = {});
Ensemble ensemble(std::initializer_list<std::reference_wrapper<const Model>> models,
                  const EnsembleOptions& options = {});

}  // namespace actorflow
