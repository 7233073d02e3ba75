// What training measures, by name, in the order in which it was measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace actorflow {

// Values of one batch or epoch: "loss", then the metrics, then "val_loss" and so on. A value.
class Logs {
 public:
  void set(std::string_view name, double value);
  std::optional<double> find(std::string_view name) const;
  // Throws not_found that lists the names there are.
  double at(std::string_view name) const;
  const std::vector<std::pair<std::string, double>>& values() const { return values_; }
  std::string names() const;  // "loss, accuracy"

 private:
  std::vector<std::pair<std::string, double>> values_;
};

// The logs of the epochs that one fit() has run.
struct History {
  std::vector<int> epochs;  // their numbers, from 1 on
  std::vector<Logs> logs;

  // One value of each epoch; of an epoch without it NaN. Throws not_found, with the names there are, if
  // no epoch has it, and if fit() has ended none.
  std::vector<double> of(std::string_view name) const;
};

}  // namespace actorflow
