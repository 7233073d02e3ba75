// Totals: the measurements of batches, added up.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "actors/layers/metrics.h"
#include "actors/models/logs/logs.h"
#include "dataflow/values/tensor.h"

namespace actorflow {

// An element of a measurement, float32 or float64.
double number(const Tensor& value, std::size_t i);

// "loss", then the names of the metrics in logs.
std::vector<std::string> log_names(const std::vector<Metric>& metrics);

// The loss, and metrics that are means, are weighted by the number of examples. REQUIRES: the metrics
// outlive this.
class Totals {
 public:
  explicit Totals(const std::vector<Metric>& metrics) : metrics_(metrics), sums_(metrics.size()) {}

  // `values`: the loss, then the metrics.
  void add(std::span<const Tensor> values, std::int64_t examples);
  // Sums that replicas have made: the examples, then the loss and metrics by examples. `like` has the
  // metrics' sizes, behind the loss.
  void add_sums(std::span<const double> sums, std::span<const Tensor> like);
  // Writes nothing if no batch was added.
  void write_to(Logs& logs) const;

  // The sums by the names of logs, for a backup; empty if no batch was added.
  std::map<std::string, Tensor> sums() const;
  // Adds such sums, unless they are of other metrics.
  void add_sums(const std::map<std::string, Tensor>& sums);
  void clear();

 private:
  const std::vector<Metric>& metrics_;
  double loss_ = 0;
  std::vector<std::vector<double>> sums_;  // of each metric
  double examples_ = 0;
};

}  // namespace actorflow
