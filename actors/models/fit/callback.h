// Callbacks, which fit() calls around epochs and steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/models/logs/logs.h"
#include "actors/runtime/runtime.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

class FitCallbacks;
class Model;

// What a callback needs to go on from a checkpoint or backup: tensors by name.
using CallbackState = std::map<std::string, Tensor>;

// How far training is.
struct FitProgress {
  int epoch = 1;             // the number of the epoch that is trained, or will be next
  std::int64_t batches = 0;  // of that epoch that have been trained

  bool operator==(const FitProgress&) const = default;
};

// What a callback sees of the training that calls it.
class FitContext {
 public:
  // REQUIRES: model and runtime outlive this.
  FitContext(Model& model, Runtime& runtime, FitProgress first, int last_epoch)
      : model_(model), runtime_(runtime), first_(first), last_epoch_(last_epoch) {}

  Model& model() const { return model_; }
  // The threads, time and disk of this process, or of a simulation.
  Runtime& runtime() const { return runtime_; }
  // The disk, for the files that callbacks write.
  Storage& storage() const { return runtime_.storage(); }
  const FitProgress& first() const { return first_; }
  int last_epoch() const { return last_epoch_; }
  // The names of what fit() measures in one epoch or another: "loss", the metrics, and those of
  // validation. Callbacks may add more to the logs.
  const std::vector<std::string>& measured() const { return measured_; }
  bool measures(std::string_view name) const {
    return std::ranges::find(measured_, name) != measured_.end();
  }
  // For fit() and estimators, not for callbacks, like set_logs_by_step() and set_number().
  void set_measured(std::vector<std::string> names) { measured_ = std::move(names); }
  // Whether logs are numbered by the step at their end and not by the epoch: for a training of a single
  // epoch that a later training may continue, as an estimator's.
  bool logs_by_step() const { return logs_by_step_; }
  void set_logs_by_step() { logs_by_step_ = true; }
  // Tells this training from others that save into the same folder, whose callbacks are not its own:
  // these begin anew where it goes on from a checkpoint of another number. Without a number they go on
  // from any. For on_train_begin().
  void set_number(std::int64_t number) { number_ = number; }
  const std::optional<std::int64_t>& number() const { return number_; }
  // For on_train_begin(): what comes before need not be trained.
  void begin_at(const FitProgress& first) {
    first_ = first;
    resumed_ = true;
  }
  // Whether a callback has let training begin where an earlier one was interrupted.
  bool resumed() const { return resumed_; }
  // Saves the model as Model::save() does, with the state of all callbacks: in save_training(), when
  // each of them has heard of the last step. resume() is for on_train_begin(): loads the model, and
  // training begins where it was; callbacks are given their state when all know that it begins.
  void save(const std::string& folder);
  void resume(const std::string& folder);
  // For fit(): whose callbacks these are, and what resume() has found of their state.
  void set_callbacks(const FitCallbacks& callbacks) { callbacks_ = &callbacks; }
  std::optional<CallbackState> take_resumed_state() { return std::exchange(resumed_state_, {}); }
  // For fit(): Totals::sums() of the present epoch, which save() keeps until that is over, and those
  // that resume() has found.
  using Sums = std::map<std::string, Tensor>;
  void set_sums_of_epoch(std::function<Sums()> sums) { sums_of_epoch_ = std::move(sums); }
  Sums take_resumed_sums() { return std::exchange(resumed_sums_, {}); }
  // Ends training after the present step, or, in on_train_begin() and on_epoch_begin(), before the next
  // one. Several replicas that begin a training make its first step in any case. When a task is lost
  // before the training ends, the one in its place makes no more steps: checkpoints of
  // ReplicaOptions::mark_end and backups of whole epochs know of it.
  void stop() { stopped_ = asked_to_stop_ = true; }
  bool stopped() const { return stopped_; }
  // Whether stop() was called, also in training before the loss of a task; interrupt() does not count.
  bool asked_to_stop() const { return asked_to_stop_; }
  // Ends it because the program was told to end (FitOptions::interrupted): it may go on another time.
  void interrupt() { stopped_ = interrupted_ = true; }
  bool interrupted() const { return interrupted_; }

 private:
  Model& model_;
  Runtime& runtime_;
  FitProgress first_;
  int last_epoch_;
  std::vector<std::string> measured_;
  const FitCallbacks* callbacks_ = nullptr;
  std::function<Sums()> sums_of_epoch_;
  Sums resumed_sums_;
  std::optional<CallbackState> resumed_state_;
  std::optional<std::int64_t> number_;
  bool logs_by_step_ = false;
  bool resumed_ = false;
  bool stopped_ = false;
  bool asked_to_stop_ = false;
  bool interrupted_ = false;
};

// A callback. An exception ends training, and fit() throws it. Those that come with fit() throw none
// when a disk refuses what they write (callbacks.h).
class Callback {
 public:
  virtual ~Callback() = default;
  virtual void on_train_begin(FitContext&) {}
  virtual void on_epoch_begin(FitContext&, int /*epoch*/) {}
  // After each training step; `batch` counts from 1 in each epoch. The logs are the batch's own: of what
  // all replicas have measured where they average gradients by all-reduce (Mirrored,
  // MultiWorkerMirrored, ElasticMirrored), and of the chief's part alone with ParameterServer or a
  // Pipeline of several replicas; but a loss of another replica that is not finite is told there, too,
  // in place of the chief's, a step or two later. A callback that looks at batches says so: reading them
  // costs a little.
  virtual bool looks_at_batches() const { return false; }
  virtual void on_batch_end(FitContext&, std::int64_t /*batch*/, const Logs&) {}
  // The logs are of the whole epoch and of all replicas; what a callback adds, later ones see, and the
  // history keeps.
  virtual void on_epoch_end(FitContext&, int /*epoch*/, Logs&) {}
  // Also if training was stopped or interrupted, but not after an exception. A cluster's last checkpoint
  // has the weights that are set here, but not one of an interrupted training, which may go on from it.
  virtual void on_train_end(FitContext&) {}
  // When all callbacks have heard of a batch (if one of them looks at batches), of the end of an epoch,
  // or of the end of training: for what saves the model, whatever the order of the callbacks.
  virtual void save_training(FitContext&) {}

  // What it has to know to go on from a checkpoint of a cluster or from a backup, in which that is saved
  // beside the model; empty: nothing. Asked between steps, for each checkpoint. restore() gives it back,
  // after on_train_begin() of all callbacks, and again whenever a cluster goes back to a checkpoint, or
  // to its beginning, after the loss of a task.
  virtual CallbackState state() const { return {}; }
  virtual void restore(const CallbackState&) {}
  // Says which callback of a fit() this is, for its state in checkpoints. Several of one name are told
  // apart by their order.
  virtual std::string name() const { return "callback"; }
  // The name of the callback in a warning, if it needs what it has seen before this epoch; else "".
  // fit() gives the warning where training goes on from a checkpoint or backup without the callback's
  // state.
  virtual std::string_view misses_before(int /*epoch*/) const { return {}; }
};

using CallbackRef = std::shared_ptr<Callback>;
using Callbacks = std::vector<CallbackRef>;

}  // namespace actorflow
