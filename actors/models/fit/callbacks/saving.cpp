// Callbacks that save the model, or its average.
#include <map>
#include <vector>

#include "actors/models/fit/callbacks/monitored_value.h"
#include "actors/models/model.h"
#include "actors/monitored/training_end.h"
#include "actors/runtime/storage.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

class ModelCheckpoint final : public Callback {
 public:
  ModelCheckpoint(std::string folder, const ModelCheckpointOptions& options)
      : folder_(std::move(folder)),
        only_best_(!options.monitor.empty()),
        value_(options.monitor, options.better) {}

  void on_epoch_end(FitContext& training, int, Logs& logs) override {
    if (only_best_) {
      const auto value = value_.find(logs);
      if (!value || !value_.improve(*value)) return;
    }
    training.model().save(folder_);
  }

 private:
  std::string folder_;
  bool only_best_;
  MonitoredValue value_;
};

class BackupAndRestore final : public Callback {
 public:
  BackupAndRestore(std::string folder, const BackupOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  bool looks_at_batches() const override { return options_.every_batches > 0; }

  void on_train_begin(FitContext& training) override {
    if (!latest_step(training.storage(), folder_)) return;
    training.model().load(folder_);
    training.begin_at(training.model().progress());
  }
  void on_batch_end(FitContext& training, std::int64_t batch, const Logs&) override {
    if (batch % options_.every_batches == 0) training.model().save(folder_);
  }
  void on_epoch_end(FitContext& training, int, Logs&) override { training.model().save(folder_); }
  void on_train_end(FitContext& training) override {
    if (!options_.keep && training.model().progress().epoch > training.last_epoch())
      remove_all(training.storage());
  }

 private:
  void remove_all(Storage& storage) const {
    for (const auto& name : storage.list(folder_)) storage.remove(folder_ + "/" + name);
    storage.sync(folder_);
  }

  std::string folder_;
  BackupOptions options_;
};

class AveragedWeights final : public Callback {
 public:
  explicit AveragedWeights(int from_epoch) : from_epoch_(from_epoch) {}

  void on_train_begin(FitContext&) override {
    sums_.clear();
    count_ = 0;
  }
  void on_epoch_end(FitContext& training, int epoch, Logs&) override {
    if (epoch < from_epoch_) return;
    ++count_;
    for (const auto& [name, value] : training.model().weights()) {
      const auto values = value.values<float>();
      auto& sum = sums_[name];
      sum.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) sum[i] += static_cast<double>(values[i]);
    }
  }
  void on_train_end(FitContext& training) override {
    if (count_ == 0) return;
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
  return std::make_shared<ModelCheckpoint>(std::move(folder), options);
}

CallbackRef backup_and_restore(std::string folder, const BackupOptions& options) {
  return std::make_shared<BackupAndRestore>(std::move(folder), options);
}

CallbackRef averaged_weights(int from_epoch) { return std::make_shared<AveragedWeights>(from_epoch); }

}  // namespace actorflow
