// A value of the logs that is expected to improve.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "actors/models/fit/callbacks.h"

namespace actorflow {

class MonitoredValue {
 public:
  MonitoredValue(std::string name, Better better, double min_delta = 0);

  // The value; warns once, with the names there are, if it was not measured, though fit() does not
  // measure it in another epoch either.
  std::optional<double> find(const FitContext& training, const Logs& logs);
  // Whether the value is better than the best so far by more than min_delta.
  bool is_better(double value) const { return is_better(value, best_); }
  // The same against another value; better than none is what is a number.
  bool is_better(double value, std::optional<double> than) const;
  // Keeps the value as the best if is_better(); returns whether.
  bool improve(double value);
  void reset(std::optional<double> best = {}) { best_ = best; }
  // The best so far, float64 "best", in what a callback keeps.
  void keep_in(CallbackState& state) const;
  void restore(const CallbackState& state);

 private:
  std::string name_;
  bool larger_;
  double min_delta_;
  bool warned_ = false;
  std::optional<double> best_;
};

}  // namespace actorflow
