// Training in this process: fit() with callbacks that restore, save, report and end.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <limits>
#include <map>
#include <string>
#include <utility>

#include "actors/checkpoint/checkpoint.h"
#include "actors/estimator/model_dir.h"
#include "actors/estimator/train/step_report.h"
#include "actors/estimator/train/training.h"
#include "actors/monitored/storage_error.h"
#include "actors/monitored/training_end.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::int64_t without_end = std::numeric_limits<std::int64_t>::max();
// For how long a disk may refuse the last checkpoint.
constexpr double patience_secs = 60;

// Called first of all callbacks.
class LocalRun final : public Callback {
 public:
  LocalRun(const TrainCall& training, Saved saved)
      : training_(training),
        config_(training.config),
        saved_(std::move(saved)),
        timer_(save_interval_of(config_)) {}

  bool looks_at_batches() const override { return true; }

  // An input without end goes on where it was; one that ends begins anew, as in TensorFlow.
  void on_train_begin(FitContext& context) override {
    Model& model = context.model();
    context.set_logs_by_step();
    const auto newest = latest_step(context.storage(), config_.model_dir);
    if (newest) model.load(config_.model_dir);
    step_ = first_ = model.step();
    const auto& [steps, max_steps, callbacks] = training_.options;
    last_ = steps ? first_ + *steps : max_steps.value_or(without_end);
    const bool goes_on = training_.input.num_epochs == 0;
    before_first_batch_ = goes_on ? 0 : first_;
    context.begin_at({.epoch = 1, .batches = goes_on ? first_ : 0});
    report_.emplace(config_, context.storage(), steady_clock());
    saved_step_ = newest == first_ ? first_ : -1;
    timer_.done(first_, steady_clock().now());
    if (saved_step_ < 0) save_if_possible(context);
    end_if_done(context);
  }

  void on_batch_end(FitContext& context, std::int64_t batch, const Logs& logs) override {
    step_ = before_first_batch_ + batch;
    report_->after(step_, logs.at("loss"));
    if (timer_.is_due(step_, steady_clock().now())) save_if_possible(context);
    end_if_done(context);
  }

  // Interrupted training may go on, from what it has now, not from what other callbacks make of it.
  void on_train_end(FitContext& context) override {
    if (context.interrupted()) return save_last(context);
    ended_ = true;
    if (saved_step_ == step_ && !training_.options.callbacks.empty())
      saved_weights_ = context.model().weights();
  }
  void save_training(FitContext& context) override {
    if (!std::exchange(ended_, false)) return;
    if (!saved_weights_.empty() && hash_of(saved_weights_) != hash_of(context.model().weights()))
      saved_step_ = -1;
    save_last(context);
  }

 private:
  void save_last(FitContext& context) {
    if (saved_step_ == step_) return;
    write_at_last(context.runtime(), fmt::format("the last checkpoint, of step {},", step_),
                  patience_secs, [&] { save(context); });
    evaluate();
  }

  void end_if_done(FitContext& context) const {
    if (step_ >= last_) context.stop();
  }

  void save(FitContext& context) {
    context.model().save(config_.model_dir, {.max_to_keep = config_.keep_checkpoint_max});
    saved_step_ = step_;
    spdlog::info("saved the checkpoint of step {} in {}", step_, config_.model_dir);
  }

  // What was refused is tried again at its next time.
  void save_if_possible(FitContext& context) {
    timer_.done(step_, steady_clock().now());
    if (storage_allows(fmt::format("save the checkpoint of step {}", step_), [&] { save(context); }))
      evaluate();
  }

  // Its errors are none of saving.
  void evaluate() const {
    if (saved_) saved_();
  }

  const TrainCall& training_;
  const RunConfig& config_;
  Saved saved_;
  StepTimer timer_;
  std::optional<StepReport> report_;
  std::int64_t first_ = 0, last_ = 0, step_ = 0;
  std::int64_t before_first_batch_ = 0;
  std::int64_t saved_step_ = -1;
  bool ended_ = false;                           // training, and other callbacks hear of it now
  std::map<std::string, Tensor> saved_weights_;  // at the end, if the last step was saved before
};

}  // namespace

void train_here(const TrainCall& training, const Saved& saved) {
  Model model = training.model.trainable();
  FitOptions options{
      .batch_size = training.input.batch_size, .shuffle = false, .may_be_short_of_a_batch = true};
  if (training.input.num_epochs == 0) options.steps_per_epoch = without_end;
  options.callbacks = training.options.callbacks;
  options.callbacks.insert(options.callbacks.begin(), std::make_shared<LocalRun>(training, saved));
  options.verbosity = Verbosity::silent;
  options.interrupted = training.config.interrupted;
  model.fit(training.model.for_training(training.input), options);
}

}  // namespace actorflow
