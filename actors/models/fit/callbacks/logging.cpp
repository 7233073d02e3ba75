// Callbacks that write what was measured.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/events/event_writer.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/model.h"
#include "actors/runtime/storage.h"

namespace actorflow {
namespace {

class CsvLogger final : public Callback {
 public:
  CsvLogger(std::string path, bool append) : path_(std::move(path)), append_(append) {}

  void on_train_begin(FitContext& training) override {
    columns_.clear();
    storage_ = &training.storage();
    if (!append_) storage_->remove(path_);
  }
  void on_epoch_end(FitContext&, int epoch, Logs& logs) override {
    if (columns_.empty()) begin(logs);
    std::string row = fmt::format("{}", epoch);
    for (const auto& column : columns_) {
      const auto value = logs.find(column);
      row += value ? fmt::format(",{}", *value) : ",";
    }
    write(row + "\n");
  }

 private:
  void begin(const Logs& logs) {
    std::string names = "epoch";
    for (const auto& [name, value] : logs.values()) {
      columns_.push_back(name);
      names += "," + name;
    }
    if (!append_ || !storage_->exists(path_)) write(names + "\n");
  }
  void write(std::string_view text) const { storage_->append(path_, std::as_bytes(std::span(text))); }

  std::string path_;
  bool append_;
  Storage* storage_ = nullptr;  // of the present fit()
  std::vector<std::string> columns_;
};

class TensorBoard final : public Callback {
 public:
  explicit TensorBoard(std::string folder) : folder_(std::move(folder)) {}

  void on_train_begin(FitContext& training) override {
    training_.emplace(training.storage(), folder_);
    validation_.emplace(training.storage(), folder_ + "/validation");
  }

  void on_epoch_end(FitContext&, int epoch, Logs& logs) override {
    constexpr std::string_view prefix = "val_";
    for (const auto& [name, value] : logs.values()) {
      const bool of_validation = name.starts_with(prefix);
      const std::string plain = of_validation ? name.substr(prefix.size()) : name;
      (of_validation ? validation_ : training_)->scalar(epoch, "epoch_" + plain, value);
    }
    training_->flush();
    validation_->flush();
  }

 private:
  std::string folder_;
  std::optional<EventWriter> training_, validation_;  // of the present fit()
};

class FunctionsCallback final : public Callback {
 public:
  explicit FunctionsCallback(CallbackFunctions functions) : functions_(std::move(functions)) {}

  bool looks_at_batches() const override { return static_cast<bool>(functions_.on_batch_end); }
  void on_train_begin(FitContext& training) override {
    if (functions_.on_train_begin) functions_.on_train_begin(training);
  }
  void on_epoch_begin(FitContext& training, int epoch) override {
    if (functions_.on_epoch_begin) functions_.on_epoch_begin(training, epoch);
  }
  void on_batch_end(FitContext& training, std::int64_t batch, const Logs& logs) override {
    if (functions_.on_batch_end) functions_.on_batch_end(training, batch, logs);
  }
  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    if (functions_.on_epoch_end) functions_.on_epoch_end(training, epoch, logs);
  }
  void on_train_end(FitContext& training) override {
    if (functions_.on_train_end) functions_.on_train_end(training);
  }

 private:
  CallbackFunctions functions_;
};

}  // namespace

CallbackRef csv_logger(std::string path, bool append) {
  return std::make_shared<CsvLogger>(std::move(path), append);
}

CallbackRef tensorboard(std::string folder) { return std::make_shared<TensorBoard>(std::move(folder)); }

CallbackRef callback(CallbackFunctions functions) {
  return std::make_shared<FunctionsCallback>(std::move(functions));
}

}  // namespace actorflow
