// Callbacks that save the model, or its average.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/checkpoint/folder.h"
#include "actors/models/fit/callbacks/kept_state.h"
#include "actors/models/fit/callbacks/monitored_value.h"
#include "actors/models/fit/callbacks/output_folder.h"
#include "actors/models/model.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Saves the model in a folder. A disk that refuses that costs this checkpoint, and no training.
class Saving {
 public:
  using Save = std::function<void(FitContext&, const std::string& folder)>;
  Saving(std::string folder, Save save) : folder_(std::move(folder)), save_(std::move(save)) {}

  const std::string& folder() const { return folder_; }
  // Before training.
  void expect_folder(FitContext& training) const {
    expect_output_folder(training, "checkpoints", folder_);
  }
  // Whether the model was saved.
  bool save(FitContext& training) {
    refused_ = !storage_allows("save the model in " + folder_, [&] { save_(training, folder_); });
    return !refused_;
  }
  // The model is another one than that which was refused.
  void forget_refused() { refused_ = false; }
  // At the end of training: the last model is worth waiting for.
  void save_refused(FitContext& training) {
    constexpr double patience_secs = 60;
    if (std::exchange(refused_, false))
      write_at_last(training.runtime(), "the model in " + folder_, patience_secs,
                    [&] { save_(training, folder_); });
  }

 private:
  std::string folder_;
  Save save_;
  bool refused_ = false;  // the last time
};

class ModelCheckpoint final : public Callback {
 public:
  ModelCheckpoint(std::string folder, const ModelCheckpointOptions& options)
      : saving_(std::move(folder),
                [weights_only = options.save_weights_only](FitContext& training, const std::string& to) {
                  weights_only ? training.model().save_weights(to) : training.model().save(to);
                }),
        monitor_(options.monitor),
        only_best_(!options.monitor.empty()),
        save_freq_(options.save_freq),
        value_(options.monitor, options.better) {
    if (options.save_freq < 0)
      throw invalid_argument(
          fmt::format("model_checkpoint: expected a save_freq of 1 batch or more, or 0 to save after "
                      "epochs, got {}",
                      options.save_freq));
    if (!only_best_ && options.initial_value_threshold)
      throw invalid_argument(fmt::format(
          "model_checkpoint: the initial_value_threshold {} is of the value that is monitored; give "
          "`monitor`, too",
          *options.initial_value_threshold));
    if (save_freq_ > 0 && options.monitor.starts_with("val_"))
      throw invalid_argument(fmt::format(
          "model_checkpoint: '{}' is known at the end of an epoch only, but save_freq {} "
          "counts batches; monitor a value of batches, such as 'loss', or leave save_freq out",
          options.monitor, save_freq_));
    value_.reset(options.initial_value_threshold);
  }

  bool looks_at_batches() const override { return save_freq_ > 0; }
  std::string name() const override {
    return only_best_ ? "model_checkpoint." + monitor_ : "model_checkpoint";
  }
  std::string_view misses_before(int epoch) const override {
    return only_best_ && epoch > 1 ? "model_checkpoint" : "";
  }
  CallbackState state() const override {
    if (!only_best_ && save_freq_ == 0) return {};
    CallbackState state{{"batches", Tensor::scalar(batches_)},
                        {"last_batch", Tensor::scalar(last_batch_)}};
    value_.keep_in(state);
    return state;
  }
  void restore(const CallbackState& state) override {
    value_.restore(state);
    batches_ = kept_number(*this, state, "batches");
    last_batch_ = kept_number(*this, state, "last_batch");
    goes_on_ = true;
  }

  void on_train_begin(FitContext& training) override { saving_.expect_folder(training); }

  // Of the last batch of a cluster's checkpoint callbacks have not heard.
  void on_epoch_begin(FitContext& training, int) override {
    const std::int64_t done = training.model().progress().batches;
    if (std::exchange(goes_on_, false)) batches_ += std::max<std::int64_t>(0, done - last_batch_);
    last_batch_ = done;
  }
  // An asynchronous chief hears of its own steps only, so numbers may be missing; after the loss of a
  // task some come again.
  void on_batch_end(FitContext& training, std::int64_t batch, const Logs& logs) override {
    if (save_freq_ == 0) return;
    batches_ += batch > last_batch_ ? batch - last_batch_ : 1;
    last_batch_ = batch;
    if (batches_ < save_freq_) return;
    batches_ = 0;
    save(training, logs);
  }
  void on_epoch_end(FitContext& training, int, Logs& logs) override {
    if (save_freq_ == 0) save(training, logs);
  }
  void on_train_end(FitContext& training) override { saving_.save_refused(training); }

 private:
  // The best is what was saved.
  void save(FitContext& training, const Logs& logs) {
    saving_.forget_refused();
    const auto value = only_best_ ? value_.find(training, logs) : std::nullopt;
    if (only_best_ && (!value || !value_.is_better(*value))) return;
    if (saving_.save(training) && value) value_.improve(*value);
  }

  Saving saving_;
  std::string monitor_;
  bool only_best_;
  std::int64_t save_freq_;
  bool goes_on_ = false;         // from a checkpoint, and no epoch has begun since
  std::int64_t batches_ = 0;     // since it saved
  std::int64_t last_batch_ = 0;  // the number of the last one
  MonitoredValue value_;
};

class BackupAndRestore final : public Callback {
 public:
  BackupAndRestore(std::string folder, const BackupOptions& options)
      : saving_(std::move(folder),
                [](FitContext& training, const std::string& to) { training.save(to); }),
        options_(options) {
    if (options.every_batches < 0)
      throw invalid_argument(fmt::format(
          "backup_and_restore: expected every_batches of 1 or more, or 0 to save after epochs "
          "alone, got {}",
          options.every_batches));
  }

  bool looks_at_batches() const override { return options_.every_batches > 0; }

  void on_train_begin(FitContext& training) override {
    saving_.expect_folder(training);
    if (!latest_step(training.storage(), saving_.folder())) return;
    training.resume(saving_.folder());
  }
  void on_batch_end(FitContext&, std::int64_t batch, const Logs&) override {
    is_due_ = looks_at_batches() && batch % options_.every_batches == 0;
  }
  void on_epoch_end(FitContext&, int, Logs&) override { is_due_ = true; }
  void save_training(FitContext& training) override {
    if (std::exchange(is_due_, false)) saving_.save(training);
  }
  void on_train_end(FitContext& training) override {
    const bool is_complete = !training.interrupted() && training.model().progress().batches == 0;
    if (options_.keep || !is_complete) return saving_.save_refused(training);
    storage_allows("remove the backup in " + saving_.folder(),
                   [&] { remove_checkpoints(training.storage(), saving_.folder()); });
  }

 private:
  Saving saving_;
  BackupOptions options_;
  bool is_due_ = false;
};

class AveragedWeights final : public Callback {
 public:
  explicit AveragedWeights(int from_epoch) : from_epoch_(from_epoch) {
    if (from_epoch < 1)
      throw invalid_argument(
          fmt::format("averaged_weights: epochs count from 1, got from_epoch {}", from_epoch));
  }

  std::string name() const override { return fmt::format("averaged_weights.from_{}", from_epoch_); }
  std::string_view misses_before(int epoch) const override {
    return epoch > from_epoch_ ? "averaged_weights" : "";
  }
  CallbackState state() const override {
    CallbackState state{{"count", Tensor::scalar<std::int64_t>(count_)}};
    for (const auto& [name, sum] : sums_)
      state["sums/" + name] = Tensor::of<double>({std::ssize(sum)}, sum);
    return state;
  }
  void restore(const CallbackState& state) override {
    count_ = static_cast<int>(kept_number(*this, state, "count"));
    sums_.clear();
    for (const auto& [name, sum] : kept_all(state, "sums/")) {
      const auto values = sum.values<double>();
      sums_[name].assign(values.begin(), values.end());
    }
  }
  void on_train_begin(FitContext&) override {
    sums_.clear();
    count_ = 0;
  }
  // What was stopped within its epoch does not count.
  void on_epoch_end(FitContext& training, int epoch, Logs&) override {
    if (epoch < from_epoch_ || training.model().progress().epoch == epoch) return;
    ++count_;
    for (const auto& [name, value] : training.model().weights()) {
      const auto values = value.values<float>();
      auto& sum = sums_[name];
      sum.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) sum[i] += static_cast<double>(values[i]);
    }
  }
  // Interrupted training may go on, with the weights that it has.
  void on_train_end(FitContext& training) override {
    if (count_ == 0 || training.interrupted()) return;
    auto weights = training.model().weights();
    for (auto& [name, value] : weights) {
      Tensor mean = Tensor::allocate(DType::float32, value.shape());
      const auto& sum = sums_.at(name);
      auto values = mean.mutable_values<float>();
      for (std::size_t i = 0; i < sum.size(); ++i) values[i] = static_cast<float>(sum[i] / count_);
      value = mean;
    }
    training.model().set_weights(weights);
  }

 private:
  int from_epoch_;
  int count_ = 0;
  std::map<std::string, std::vector<double>> sums_;
};

}  // namespace

CallbackRef model_checkpoint(std::string folder, const ModelCheckpointOptions& options) {
  return std::make_shared<ModelCheckpoint>(expect_path("model_checkpoint", std::move(folder)), options);
}

CallbackRef backup_and_restore(std::string folder, const BackupOptions& options) {
  return std::make_shared<BackupAndRestore>(expect_path("backup_and_restore", std::move(folder)),
                                            options);
}

CallbackRef averaged_weights(int from_epoch) { return std::make_shared<AveragedWeights>(from_epoch); }

}  // namespace actorflow
