// Callbacks that end training, or change its rate, by what was measured.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <map>
#include <string_view>

#include "actors/models/fit/callbacks/kept_state.h"
#include "actors/models/fit/callbacks/monitored_value.h"
#include "actors/models/model.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

class EarlyStopping final : public Callback {
 public:
  explicit EarlyStopping(const EarlyStoppingOptions& options)
      : options_(options), value_(options.monitor, options.better, options.min_delta) {
    if (options.patience < 0 || options.start_from_epoch < 1)
      throw invalid_argument(fmt::format(
          "early_stopping: expected a patience of 0 epochs or more and a start_from_epoch of 1 or more, "
          "got {} and {}",
          options.patience, options.start_from_epoch));
  }

  void on_train_begin(FitContext&) override {
    value_.reset();
    epochs_without_ = best_epoch_ = 0;
    best_weights_.clear();
  }

  std::string name() const override { return "early_stopping." + options_.monitor; }
  std::string_view misses_before(int epoch) const override {
    return epoch > options_.start_from_epoch ? "early_stopping" : "";
  }
  CallbackState state() const override {
    CallbackState state{{"epochs_without", Tensor::scalar<std::int64_t>(epochs_without_)},
                        {"best_epoch", Tensor::scalar<std::int64_t>(best_epoch_)}};
    value_.keep_in(state);
    keep_all(best_weights_, "weights/", state);
    return state;
  }
  void restore(const CallbackState& state) override {
    value_.restore(state);
    epochs_without_ = static_cast<int>(kept_number(*this, state, "epochs_without"));
    best_epoch_ = static_cast<int>(kept_number(*this, state, "best_epoch"));
    if (options_.restore_best_weights) best_weights_ = kept_all(state, "weights/");
  }

  // As in Keras, nothing stops in the first epoch, whose weights are the best until others are, and
  // patience begins anew only where a value is better than the baseline, too.
  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    const auto value = value_.find(training, logs);
    if (!value || epoch < options_.start_from_epoch) return;
    ++epochs_without_;
    const bool improved = value_.improve(*value);
    if (improved || best_epoch_ == 0) keep(training, epoch);
    if (improved) {
      if (value_.is_better(*value, options_.baseline)) epochs_without_ = 0;
    } else if (epochs_without_ >= options_.patience && epoch > 1) {
      spdlog::info("early stopping in epoch {}: '{}' was best in epoch {}", epoch, options_.monitor,
                   best_epoch_);
      training.stop();
    }
  }

  void on_train_end(FitContext& training) override {
    if (!best_weights_.empty()) training.model().set_weights(best_weights_);
  }

 private:
  void keep(FitContext& training, int epoch) {
    best_epoch_ = epoch;
    if (options_.restore_best_weights) best_weights_ = training.model().weights();
  }

  EarlyStoppingOptions options_;
  MonitoredValue value_;
  int epochs_without_ = 0;
  int best_epoch_ = 0;
  std::map<std::string, Tensor> best_weights_;
};

// Before training, for a callback that sets the learning rate.
void expect_no_schedule(const FitContext& training, std::string_view callback) {
  if (training.model().compile_options().learning_rate)
    throw Error(Code::failed_precondition,
                fmt::format("{}: the learning rate follows the schedule of compile(), so that no "
                            "callback can set it; leave out one of the two",
                            callback));
}

class ReduceOnPlateau final : public Callback {
 public:
  explicit ReduceOnPlateau(const ReduceOnPlateauOptions& options)
      : options_(options), value_(options.monitor, options.better, options.min_delta) {
    if (!(options.factor > 0 && options.factor < 1))
      throw invalid_argument(
          fmt::format("reduce_on_plateau: expected a factor between 0 and 1, got {}", options.factor));
    if (options.patience < 0 || options.cooldown < 0)
      throw invalid_argument(
          fmt::format("reduce_on_plateau: patience and cooldown are 0 epochs or more, got {} and {}",
                      options.patience, options.cooldown));
  }

  void on_train_begin(FitContext& training) override {
    expect_no_schedule(training, "reduce_on_plateau");
    value_.reset();
    epochs_without_ = cooling_ = 0;
  }

  // Throws where optimizers have different rates, before the first step.
  void on_epoch_begin(FitContext& training, int) override { training.model().learning_rate(); }

  std::string name() const override { return "reduce_on_plateau." + options_.monitor; }
  std::string_view misses_before(int epoch) const override {
    return epoch > 1 ? "reduce_on_plateau" : "";
  }
  CallbackState state() const override {
    CallbackState state{{"epochs_without", Tensor::scalar<std::int64_t>(epochs_without_)},
                        {"cooling", Tensor::scalar<std::int64_t>(cooling_)}};
    value_.keep_in(state);
    return state;
  }
  void restore(const CallbackState& state) override {
    value_.restore(state);
    epochs_without_ = static_cast<int>(kept_number(*this, state, "epochs_without"));
    cooling_ = static_cast<int>(kept_number(*this, state, "cooling"));
  }

  void on_epoch_end(FitContext& training, int, Logs& logs) override {
    logs.set("learning_rate", training.model().learning_rate());
    const auto value = value_.find(training, logs);
    if (!value) return;
    if (cooling_ > 0) {
      --cooling_;
      epochs_without_ = 0;
    }
    if (value_.improve(*value)) {
      epochs_without_ = 0;
    } else if (cooling_ == 0 && ++epochs_without_ >= options_.patience) {
      reduce(training.model());
      cooling_ = options_.cooldown;
      epochs_without_ = 0;
    }
  }

 private:
  void reduce(Model& model) const {
    const double rate = model.learning_rate();
    if (rate > options_.min_rate)
      model.set_learning_rate(std::max(rate * options_.factor, options_.min_rate));
  }

  ReduceOnPlateauOptions options_;
  MonitoredValue value_;
  int epochs_without_ = 0, cooling_ = 0;
};

class TerminateOnNan final : public Callback {
 public:
  bool looks_at_batches() const override { return true; }
  void on_batch_end(FitContext& training, std::int64_t batch, const Logs& logs) override {
    if (std::isfinite(logs.at("loss"))) return;
    spdlog::error("the loss of batch {} is {}: training ends", batch, logs.at("loss"));
    training.stop();
  }
  // What a replica has measured in the last batches may be known only now.
  void on_epoch_end(FitContext& training, int epoch, Logs& logs) override {
    const auto loss = logs.find("loss");
    if (training.stopped() || !loss || std::isfinite(*loss)) return;
    spdlog::error("the loss of epoch {} is {}: training ends", epoch, *loss);
    training.stop();
  }
};

class LearningRateScheduler final : public Callback {
 public:
  explicit LearningRateScheduler(std::function<double(int, double)> schedule)
      : schedule_(std::move(schedule)) {
    if (!schedule_) throw invalid_argument("learning_rate_scheduler: expected a function, got none");
  }

  void on_train_begin(FitContext& training) override {
    expect_no_schedule(training, "learning_rate_scheduler");
  }
  // An epoch that goes on where it was interrupted has its rate: the schedule may use the rate so far.
  void on_epoch_begin(FitContext& training, int epoch) override {
    if (training.model().progress().batches > 0) return;
    training.model().set_learning_rate(schedule_(epoch, training.model().learning_rate()));
  }
  void on_epoch_end(FitContext& training, int, Logs& logs) override {
    logs.set("learning_rate", training.model().learning_rate());
  }

 private:
  std::function<double(int, double)> schedule_;
};

}  // namespace

CallbackRef early_stopping(const EarlyStoppingOptions& options) {
  return std::make_shared<EarlyStopping>(options);
}

CallbackRef reduce_on_plateau(const ReduceOnPlateauOptions& options) {
  return std::make_shared<ReduceOnPlateau>(options);
}

CallbackRef terminate_on_nan() { return std::make_shared<TerminateOnNan>(); }

CallbackRef learning_rate_scheduler(std::function<double(int, double)> schedule) {
  return std::make_shared<LearningRateScheduler>(std::move(schedule));
}

}  // namespace actorflow
