// The callbacks that come with fit(), by the names of Keras.
//
// Folders are tried before training: fit() throws where nothing can be written. Later a disk that
// refuses what a callback writes ends no training: that is logged, and tried again after the next epoch.
// A model that the disk still refuses a minute after the last step is an error. An empty path is refused
// at once.
//
// What callbacks have seen in earlier epochs (the best value and weights, epochs without an improvement,
// the sums of averaged weights) is in checkpoints of clusters and in backups, and training goes on with
// it. Where a checkpoint or backup lacks it, since it is of a fit() with other callbacks, and where an
// elastic job gets another first task, callbacks begin anew, and fit() warns with their names.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "actors/models/fit/callback.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// Which of two values is the better one. `automatic`: the larger of what ends with "accuracy", "auc",
// "precision", "recall", "f1_score" or "r2_score", the smaller of all else.
enum class Better : std::uint8_t { automatic, smaller, larger };

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  int patience = 0;      // epochs without an improvement before training ends
  double min_delta = 0;  // a smaller change is none
  Better better = Better::automatic;
  bool restore_best_weights = false;  // at the end of fit(), however it ends
  int start_from_epoch = 1;           // earlier epochs do not count
  // As in Keras: until the value has been better than this by more than min_delta, improvements do not
  // reset the count of epochs; once `patience` are counted, the first that does not improve ends
  // training.
  std::optional<double> baseline{};
};
// Ends training when a value no longer improves. A value that is not measured is warned of; epochs in
// which fit() does not validate do not count. Throws invalid_argument for a patience below 0 and for a
// start_from_epoch below 1.
CallbackRef early_stopping(const EarlyStoppingOptions& options = {});

struct ModelCheckpointOptions {
  std::string monitor{};  // save only what has the best value of this so far; "" = always
  Better better = Better::automatic;
  // Save every so many batches, counted across epochs, instead of after epochs; 0: after each epoch.
  // `monitor` is then the value of that batch alone.
  std::int64_t save_freq = 0;
  std::optional<double> initial_value_threshold{};  // save only what is better than this; with `monitor`
  bool save_weights_only = false;                   // by Model::save_weights()
};
// Saves the model into a folder, after epochs or batches. The best so far is the best that was saved.
// Throws invalid_argument for a save_freq below 0, for one with a `monitor` of validation, which batches
// do not have, and for a threshold without `monitor`.
CallbackRef model_checkpoint(std::string folder, const ModelCheckpointOptions& options = {});

struct BackupOptions {
  std::int64_t every_batches = 0;  // besides the end of each epoch; 0 = not
  bool keep = false;               // the backup, when training is complete
};
// Saves how far training is, and goes on from there when a program that was interrupted begins again. A
// backup that is damaged is passed over. The folder is for the backup alone: when training is complete,
// all checkpoints in it are removed, but no other files.
CallbackRef backup_and_restore(std::string folder, const BackupOptions& options = {});

// Sets the learning rate of each epoch from its number, which counts from 1, and the rate so far. An
// epoch that goes on where it was interrupted keeps its rate. fit() throws failed_precondition where
// Model::set_learning_rate() does: for a schedule of compile(), and for optimizers of different rates.
CallbackRef learning_rate_scheduler(std::function<double(int epoch, double rate)> schedule);

struct ReduceOnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;
  int patience = 10;
  double min_delta = 1e-4;
  Better better = Better::automatic;
  int cooldown = 0;  // epochs after a reduction that do not count
  double min_rate = 0;
};
// Multiplies the learning rate by the factor when a value no longer improves. fit() throws as with
// learning_rate_scheduler().
CallbackRef reduce_on_plateau(const ReduceOnPlateauOptions& options = {});

// Writes a row with the logs of each epoch. Its columns are what fit() measures in any epoch, and what
// callbacks have added to the first one's logs; a value that an epoch lacks is left empty. Rows that the
// disk refuses are written with the next one. When training goes on from a backup or checkpoint, the
// rows of the epochs before stay, also without `append`, and an epoch that is trained again replaces its
// row. New rows have the columns of the old file: a value that it has no column for is refused, before
// training where fit() measures it; a column that nothing fills any more stays empty. Of an estimator
// each train() is a row, numbered by its last step; later ones append.
CallbackRef csv_logger(std::string path, bool append = false);
// Writes the logs of each epoch as scalars "epoch_loss", ... that TensorBoard shows, those of validation
// into the folder "validation" within. Of an estimator they are numbered by the last step of each
// train().
CallbackRef tensorboard(std::string folder);
// Ends training after a step whose loss is NaN or infinite, at any replica. Where several train, fit()
// throws not_finite for such a loss of any of them before callbacks hear of it; with
// ReplicaOptions::not_finite = NotFinite::skip training goes on, and this ends it.
CallbackRef terminate_on_nan();
// Gives the model the mean of its weights after each epoch from `from_epoch` on, when training ends
// (Izmailov et al. 2018, Averaging Weights Leads to Wider Optima and Better Generalization). An epoch
// that was stopped before its end does not count, and training that was interrupted keeps its weights.
CallbackRef averaged_weights(int from_epoch = 1);

// A callback of functions; empty ones are not called.
struct CallbackFunctions {
  std::function<void(FitContext&)> on_train_begin{};
  std::function<void(FitContext&, int epoch)> on_epoch_begin{};
  std::function<void(FitContext&, std::int64_t batch, const Logs&)> on_batch_end{};
  std::function<void(FitContext&, int epoch, Logs&)> on_epoch_end{};
  std::function<void(FitContext&)> on_train_end{};
  // Callback::name(), state() and restore().
  std::string name = "callback";
  std::function<CallbackState()> state{};
  std::function<void(const CallbackState&)> restore{};
};
// Throws invalid_argument for `state` without `restore`, and the other way round.
CallbackRef callback(CallbackFunctions functions);

}  // namespace actorflow
