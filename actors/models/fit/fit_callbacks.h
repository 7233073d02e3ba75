// The callbacks of a running fit(), in their order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/models/fit/callback.h"
#include "actors/models/logs/totals.h"

namespace actorflow {

// What was saved under names that begin so, by the rest of its name.
CallbackState state_with(const std::string& prefix, const ExtraState& saved);

// Not thread-safe. REQUIRES: all outlive this.
class FitCallbacks {
 public:
  FitCallbacks(const Callbacks& callbacks, const std::vector<Metric>& metrics, FitContext& context);
  FitCallbacks(const FitCallbacks&) = delete;
  FitCallbacks& operator=(const FitCallbacks&) = delete;

  void on_train_begin();
  void on_epoch_begin(int epoch) {
    for (const auto& callback : callbacks_) callback->on_epoch_begin(context_, epoch);
  }
  bool look_at_batches() const { return looks_at_batches_; }
  // `values`: the batch's loss, then its metrics.
  void on_batch_end(std::int64_t batch, std::span<const Tensor> values);
  // `values` are one replica's, `sums` those of all (Totals::add_sums()).
  void on_batch_end(std::int64_t batch, std::span<const Tensor> values, std::span<const double> sums);
  void on_epoch_end(int epoch, Logs& logs);
  void on_train_end();

  // The state of all, for a checkpoint of the present step; with `stop` also that a callback has stopped
  // the training, which then makes no more steps when it is restored.
  ExtraState state(bool stop) const;
  // Gives each its state; those that have none here begin anew, and so do all if it is another
  // training's (FitContext::number()). Stops training that was stopped when this was saved, unless its
  // end was another one.
  void restore(const ExtraState& saved);
  // The state that they had when training began.
  void begin_anew();
  // For training that goes on in this epoch from a checkpoint or backup: names those that begin anew.
  void warn_of_missing(int epoch) const;

 private:
  void tell(std::int64_t batch, const Totals& totals);
  void save_training() {
    for (const auto& callback : callbacks_) callback->save_training(context_);
  }
  ExtraState present_state() const;
  void restore_each(const ExtraState& saved);
  std::int64_t end_of_training() const { return context_.number().value_or(context_.last_epoch()); }

  const Callbacks& callbacks_;
  const std::vector<Metric>& metrics_;
  FitContext& context_;
  bool looks_at_batches_ = false;
  // Of each callback: how the names of its state begin, what that was when training began, and whether
  // it was given back.
  struct Kept {
    std::string prefix;
    CallbackState first{};
    bool restored = false;
  };
  std::vector<Kept> kept_;
  std::optional<ExtraState> before_part_;  // of the epoch, which was stopped within
};

}  // namespace actorflow
