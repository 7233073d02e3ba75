// TensorBoard's callback, and one of a program's own functions.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "actors/events/event_writer.h"
#include "actors/models/fit/callbacks.h"
#include "actors/models/fit/callbacks/log_numbers.h"
#include "actors/models/fit/callbacks/output_folder.h"
#include "actors/monitored/event_log.h"
#include "actors/runtime/expect_path.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

class TensorBoard final : public Callback {
 public:
  explicit TensorBoard(std::string folder) : folder_(std::move(folder)) {}

  void on_train_begin(FitContext& training) override {
    expect_output_folder(training, "summaries", folder_);
    training_.emplace(std::make_shared<EventWriter>(training.storage(), folder_));
    validation_.emplace(std::make_shared<EventWriter>(training.storage(), folder_ + "/validation"));
    last_.reset();
  }

  // TensorBoard drops what was told of this epoch and later ones before: by a chief that was lost, or by
  // this one before a loss.
  void on_epoch_begin(FitContext& training, int epoch) override {
    const std::int64_t first = first_number(training, epoch);
    if (!last_ || first <= *last_)
      for (auto* log : {&training_, &validation_})
        (*log)->write([first](EventWriter& to) { to.session_start(first); });
    last_ = first;
  }

  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    const std::int64_t number = number_of_logs(training, epoch);
    constexpr std::string_view prefix = "val_";
    for (const auto& [name, value] : logs.values()) {
      const bool of_validation = name.starts_with(prefix);
      const std::string plain = of_validation ? name.substr(prefix.size()) : name;
      (of_validation ? validation_ : training_)->write([&, &value = value](EventWriter& to) {
        to.scalar(number, "epoch_" + plain, value);
      });
    }
    for (auto* log : {&training_, &validation_}) (*log)->write([](EventWriter& to) { to.flush(); });
  }

 private:
  std::string folder_;
  std::optional<EventLog> training_, validation_;  // of the present fit()
  std::optional<std::int64_t> last_;               // number of an epoch's first logs
};

class FunctionsCallback final : public Callback {
 public:
  explicit FunctionsCallback(CallbackFunctions functions) : functions_(std::move(functions)) {
    if (static_cast<bool>(functions_.state) == static_cast<bool>(functions_.restore)) return;
    throw invalid_argument(
        fmt::format("callback '{}': expected both `state` and `restore`, or none of them, got {} alone",
                    functions_.name, functions_.state ? "`state`" : "`restore`"));
  }

  std::string name() const override { return functions_.name; }
  std::string_view misses_before(int epoch) const override {
    return functions_.restore && epoch > 1 ? std::string_view(functions_.name) : "";
  }
  CallbackState state() const override {
    return functions_.state ? functions_.state() : CallbackState();
  }
  void restore(const CallbackState& state) override {
    if (functions_.restore) functions_.restore(state);
  }
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

CallbackRef tensorboard(std::string folder) {
  return std::make_shared<TensorBoard>(expect_path("tensorboard", std::move(folder)));
}

CallbackRef callback(CallbackFunctions functions) {
  return std::make_shared<FunctionsCallback>(std::move(functions));
}

}  // namespace actorflow
