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

  // The value; warns once, with the names there are, if it was not measured.
  std::optional<double> find(const Logs& logs);
  // Whether the value is better than the best so far by more than min_delta.
  bool is_better(double value) const;
  // Keeps the value as the best if is_better(); returns whether.
  bool improve(double value);
  void reset() { best_.reset(); }

 private:
  std::string name_;
  bool larger_;
  double min_delta_;
  bool warned_ = false;
  std::optional<double> best_;
};

}  // namespace actorflow
