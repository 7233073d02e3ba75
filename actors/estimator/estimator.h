// Estimators: a model function, a folder for what it learns, and training, evaluation, prediction and
// export of it, by the names and rules of TensorFlow's tf.estimator.
//
//   DNNClassifier flowers({.feature_columns = {numeric_column("petal_length"), ...},
//                          .hidden_units = {10, 20, 10},
//                          .n_classes = 3,
//                          .config = {.model_dir = "flowers"}});
//   flowers.train(training, {.steps = 500});
//   std::cout << flowers.evaluate(testing).at("accuracy") << "\n";
//
// canned.h has the estimators that bring their own model, train_and_evaluate.h those of a cluster.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "actors/estimator/input.h"
#include "actors/estimator/model_spec.h"
#include "actors/estimator/run_config.h"
#include "actors/models/fit/callback.h"
#include "actors/models/logs/logs.h"

namespace actorflow {

// At most one of `steps` and `max_steps`; with neither, training goes on until the input ends
// (NamedExamples::num_epochs).
struct EstimatorTrainOptions {
  std::optional<std::int64_t> steps{};      // more than there were
  std::optional<std::int64_t> max_steps{};  // in all; nothing is done if there were as many already
  // Called as by fit(), for which a train() is one epoch; batches are numbered by their step, or, of an
  // input that ends, from 1 on. csv_logger() writes a row for each train(), which has the number of its
  // last step, and so have the scalars of tensorboard(). They begin anew with each train(); but on a
  // cluster, where a task comes back after a loss, or a program that was interrupted is started again,
  // training to the same end goes on with what they have seen.
  Callbacks callbacks{};
};

struct EstimatorEvaluateOptions {
  std::optional<std::int64_t> steps{};  // batches; none: all examples
  std::string name{};                   // of several evaluations: its events go to model_dir/eval_NAME
};

// The predictions of all examples by name, in rows.
using Predictions = std::map<std::string, Tensor>;

// What is learned is in the model_dir alone: an estimator of another process that has the same folder
// goes on from there. A value; two must not train in one folder at a time. Everything throws Error:
// invalid_argument for what does not fit, not_found, "no trained model in DIR", where none was trained,
// failed_precondition or permission_denied, before anything runs, for a model_dir in which nothing can
// be saved, and what steps and storage throw.
class Estimator {
 public:
  // Throws invalid_argument for a configuration that makes no sense.
  Estimator(ModelFn model_fn, RunConfig config);

  // Trains, and saves into the model_dir. On a cluster every task calls it, with max_steps or an input
  // that ends, because a task that joins late could not know what more steps are counted from; it
  // returns when the task's part is over.
  void train(const InputFn& input_fn, const EstimatorTrainOptions& options = {}) const;
  // "loss" and the metrics of the newest checkpoint that is whole, and "global_step". Writes them into
  // model_dir/eval, too.
  Logs evaluate(const InputFn& input_fn, const EstimatorEvaluateOptions& options = {}) const;
  Predictions predict(const InputFn& input_fn) const;
  // Writes folder/model.onnx, whose inputs are called after features and columns and whose outputs are
  // the predictions. The types of inputs are those of the examples, of which one is read.
  void export_onnx(const std::string& folder, const InputFn& input_fn) const;

  // The step of the newest checkpoint, if there is one; and what it has: the weights and more, by name.
  std::optional<std::int64_t> latest_step() const;
  std::map<std::string, Tensor> variables() const;

  const ModelFn& model_fn() const { return model_fn_; }
  const RunConfig& config() const { return config_; }

 private:
  ModelFn model_fn_;
  RunConfig config_;
};

}  // namespace actorflow
