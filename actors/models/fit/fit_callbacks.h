// The callbacks of a running fit(), in their order.
#pragma once

#include <cstdint>
#include <span>

#include "actors/models/fit/callback.h"
#include "actors/models/logs/totals.h"

namespace actorflow {

// Not thread-safe. REQUIRES: all outlive this.
class FitCallbacks {
 public:
  FitCallbacks(const Callbacks& callbacks, const std::vector<Metric>& metrics, FitContext& context)
      : callbacks_(callbacks), metrics_(metrics), context_(context) {
    for (const auto& callback : callbacks) looks_at_batches_ |= callback->looks_at_batches();
  }

  void on_train_begin() {
    for (const auto& callback : callbacks_) callback->on_train_begin(context_);
  }
  void on_epoch_begin(int epoch) {
    for (const auto& callback : callbacks_) callback->on_epoch_begin(context_, epoch);
  }
  bool look_at_batches() const { return looks_at_batches_; }
  // `values`: the batch's loss, then its metrics.
  void on_batch_end(std::int64_t batch, std::span<const Tensor> values) {
    if (!looks_at_batches_) return;
    Totals own(metrics_);
    own.add(values, 1);
    tell(batch, own);
  }
  // `values` are one replica's, `sums` those of all (Totals::add_sums()).
  void on_batch_end(std::int64_t batch, std::span<const Tensor> values, std::span<const double> sums) {
    Totals all(metrics_);
    all.add_sums(sums, values);
    tell(batch, all);
  }
  void on_epoch_end(int epoch, Logs& logs) {
    for (const auto& callback : callbacks_) callback->on_epoch_end(context_, epoch, logs);
  }
  // For training that goes on in this epoch from a checkpoint or backup.
  void warn_of_missing(int epoch) const;
  void on_train_end() {
    for (const auto& callback : callbacks_) callback->on_train_end(context_);
  }

 private:
  void tell(std::int64_t batch, const Totals& totals) {
    Logs logs;
    totals.write_to(logs);
    for (const auto& callback : callbacks_) callback->on_batch_end(context_, batch, logs);
  }

  const Callbacks& callbacks_;
  const std::vector<Metric>& metrics_;
  FitContext& context_;
  bool looks_at_batches_ = false;
};

}  // namespace actorflow
