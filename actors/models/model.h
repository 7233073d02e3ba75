// Models: layers that learn from examples.
//
//   Model model = sequential({flatten(), dense(128, relu), dense(10)});
//   model.compile({.loss = softmax_cross_entropy(), .optimizer = Adam{0.001}, .metrics = {accuracy()}});
//   model.fit({images, labels}, {.epochs = 3, .batch_size = 64});
//   std::cout << model.evaluate({test_images, test_labels}).at("accuracy") << "\n";
//
// Names and behaviour follow Keras 3. fit/callbacks.h has the callbacks.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/client/session.h"
#include "actors/layers/layers.h"
#include "actors/models/data/training_data.h"
#include "actors/models/fit/callback.h"
#include "actors/models/fit/validation_freq.h"
#include "actors/models/logs/logs.h"
#include "actors/models/model_layer.h"
#include "actors/models/network/compile_options.h"
#include "actors/strategies/distribution.h"

namespace actorflow {

struct ModelEngine;
class Runtime;

// What fit() prints to standard output.
enum class Verbosity : std::uint8_t { silent, line_per_epoch };

struct FitOptions {
  int epochs = 1;                // the number of the last epoch, counted from 1
  std::int64_t batch_size = 32;  // the last batch of an epoch may be smaller
  std::optional<TrainingData> validation_data{};
  // The share of the examples, the last ones, that are set apart for validation. For tensors.
  double validation_split = 0;
  std::int64_t validation_batch_size = 0;  // 0: batch_size
  std::int64_t validation_steps = 0;       // batches, the first ones; 0: until the data end
  ValidationFreq validation_freq = 1;      // 2: every second epoch; {1, 5}: these epochs, counted from 1
  // Multiplies the loss of each example of training by the weight of its class; empty: unweighted. Each
  // class that occurs needs one; not together with sample_weights, nor for several outputs. The loss is
  // divided by the number of examples, not by the sum of the weights. Metrics and validation are
  // unweighted.
  ClassWeight class_weight{};
  bool shuffle = true;               // in each epoch anew; tensors only: a dataset has its own order
  // With `off`, which is for MultiWorkerMirrored, a step takes batch_size / replicas examples of each
  // replica's own data. A replica whose data end earlier joins: it makes the rest of the epoch's steps
  // with gradients of 0, and the mean is still over all replicas (as hvd.join() of Horovod), each of
  // which takes the mean of its own examples: those of a short last batch count more. Metrics are
  // weighted by examples. Validation is the chief's.
  AutoShardPolicy auto_shard_policy = AutoShardPolicy::data;
  int initial_epoch = 0;             // epochs that were run earlier
  std::int64_t steps_per_epoch = 0;  // 0: until the data end
  // A dataset that turns out to have less than a batch is then trained as one short batch, not refused.
  bool may_be_short_of_a_batch = false;
  // Each step computes its batch in that many equal parts, one after the other, and adds up their
  // gradients: as much memory as a part takes, and what the whole batch teaches, but for layers that
  // look at all examples together, such as batch_norm. With synchronous replicas: the parts of each.
  std::int64_t gradient_accumulation_steps = 1;
  Callbacks callbacks{};
  Verbosity verbosity = Verbosity::line_per_epoch;
  // Under a strategy of several replicas a batch is that of all together, and a synchronous step takes
  // one batch; of an asynchronous step it is one replica's. Callbacks are called at the chief, and other
  // tasks may have other ones, or none. At the chief alone the model has the trained weights afterwards:
  // elsewhere what would use them throws failed_precondition until the model gets others, or trains
  // again (is_chief(), distribution.h). The model goes on there where it is, and later here or
  // elsewhere: weights, optimizer slots, the number of the step and the learning rate. A checkpoint in
  // ReplicaOptions::checkpoint_folder replaces them.
  Distribution strategy = OneDevice{};
  // When this becomes true, training ends after the step that runs, callbacks hear of the epoch as far
  // as it came and of the end, and the model has what was learned so far. A cluster's chief saves before
  // that, if it has a folder; other tasks wait for it to do so. REQUIRES: it outlives fit().
  const std::atomic<bool>* interrupted = nullptr;
};

struct EvaluateOptions {
  std::int64_t batch_size = 32;
  std::int64_t steps = 0;  // batches, the first ones; 0: until the data end
};

struct PredictOptions {
  std::int64_t batch_size = 32;
  std::int64_t steps = 0;  // as those of EvaluateOptions
};

// A model with its weights. Not thread-safe. Everything throws Error: invalid_argument for what does not
// fit the model, failed_precondition for calls in the wrong order, and what steps throw.
class Model {
 public:
  // The functional form.
  Model(std::vector<SymbolicTensor> inputs, std::vector<SymbolicTensor> outputs);
  // Computes on the threads of the runtime, whose extensions it has; none: threads of its own.
  explicit Model(Architecture architecture, std::shared_ptr<Runtime> runtime = nullptr);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // Says how to train. A second call keeps the weights, and begins with new optimizer slots.
  void compile(CompileOptions options);
  // Its inputs have types as soon as the model has learned them from data.
  const Architecture& architecture() const;
  // Throws failed_precondition before compile().
  const CompileOptions& compile_options() const;

  // Trains. Returns the history; of other tasks than the chief it is empty. Calls may follow each other:
  // weights, optimizer slots, the number of the step and the learning rate stay.
  History fit(const TrainingData& data, const FitOptions& options = {});
  // "loss" and the metrics over all examples.
  Logs evaluate(const TrainingData& data, const EvaluateOptions& options = {});
  // The outputs for examples in rows; of the model's only input, or of all.
  Tensor predict(const Tensor& x, std::int64_t batch_size = 32);
  std::vector<Tensor> predict(const std::vector<Tensor>& inputs, std::int64_t batch_size = 32);
  // The same for the elements of a dataset: each has the model's inputs, behind which labels and a
  // weight may follow, as in examples of training. A tensor for each output. Throws invalid_argument if
  // there are no elements.
  std::vector<Tensor> predict(const Dataset& examples, const PredictOptions& options = {});

  // A step of the optimizer, or a test, with all of these examples as one batch, in this process.
  // Returns the loss and the metrics of this batch alone, with the weights before the step. Training
  // goes on from fit() and fit() from it; throws failed_precondition within one.
  Logs train_on_batch(const TrainingData& batch);
  Logs test_on_batch(const TrainingData& batch);
  Tensor predict_on_batch(const Tensor& x);
  std::vector<Tensor> predict_on_batch(const std::vector<Tensor>& inputs);

  // Makes the variables, if the inputs' types are known from input() or given here: those of one
  // example. fit(), evaluate(), predict() and load() do that themselves.
  void build(const std::vector<TensorType>& inputs = {});
  // A table of the layers, with the shapes of their results and the numbers of their parameters; and the
  // stages into which the last fit() by a Pipeline has cut them, "stages: dense, dense_1 | dense_2".
  std::string summary();
  std::int64_t count_parameters();

  // The variables by name, averages that are not trained included.
  std::map<std::string, Tensor> weights() const;
  // Throws invalid_argument, with all differences, unless these are all of the model's variables.
  void set_weights(const std::map<std::string, Tensor>& weights);
  // Takes from another model the weights of all outermost layers that both have: the same Layer, as in a
  // model that is made of another one's get_layer().output(), whatever its name in each. Returns their
  // names in this model. Throws invalid_argument if there are none, or if their shapes differ.
  std::vector<std::string> copy_weights(const Model& other);
  // One of the outermost layers. Throws not_found, with the names that there are.
  ModelLayer get_layer(const std::string& name);
  // The names of the outermost layers, in the order of summary().
  std::vector<std::string> layer_names() const;
  // Writes a checkpoint into the folder: weights, slots, the numbers of the step, epoch and batch, and
  // the learning rate; by default the five newest stay. load() takes the newest one that is whole.
  // Throws not_found if there is none, failed_precondition, with all differences, if it is of another
  // model.
  void save(const std::string& folder, const KeepOptions& keep = {});
  void load(const std::string& folder);
  // The same for weights() alone: load_weights() leaves the optimizer's slots, the step and the rate as
  // they are. It takes the weights of a checkpoint of save(), too; load() refuses one of save_weights().
  void save_weights(const std::string& folder, const KeepOptions& keep = {});
  void load_weights(const std::string& folder);
  // Writes folder/model.onnx, whose inputs and outputs are called as in input(), and "y", "y_1", ...
  void export_onnx(const std::string& folder);

  // Training steps since compile(), of all calls of fit() and of what was loaded. After fit() by several
  // tasks: at the chief all steps, at another replica those that it has heard of, and at a task that
  // only served as before.
  std::int64_t step();
  // Where fit() is, or was when it ended or the loaded checkpoint was saved.
  FitProgress progress() const;
  // Throw failed_precondition where optimizers of different learning rates update the variables, as with
  // muon_for_matrices(), unless compile() has a schedule, which replaces all of them;
  // set_learning_rate() throws where it has one. Before the model is built the next call that builds it
  // throws instead.
  double learning_rate();
  void set_learning_rate(double rate);

 private:
  friend class FitContext;
  std::unique_ptr<ModelEngine> engine_;
};

// Layers one after the other; the first one's input is known from the data, or given.
Model sequential(const std::vector<Layer>& layers);
Model sequential(const SymbolicTensor& input, const std::vector<Layer>& layers);

}  // namespace actorflow
