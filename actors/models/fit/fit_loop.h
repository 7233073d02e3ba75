// The loop of Model::fit(). For actors/models only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/models/fit/batches.h"
#include "actors/models/fit/progress_line.h"
#include "actors/models/model_engine.h"

namespace actorflow {

// Adds up what batches measure: the loss and metrics that are means count by examples.
class Totals {
 public:
  explicit Totals(const std::vector<Metric>& metrics) : metrics_(metrics), sums_(metrics.size()) {}

  // `values`: the loss, then the metrics.
  void add(std::span<const Tensor> values, std::int64_t examples);
  // Writes nothing if no batch was added.
  void write_to(Logs& logs) const;

 private:
  const std::vector<Metric>& metrics_;
  double loss_ = 0;
  std::vector<std::vector<double>> sums_;  // of each metric
  std::int64_t examples_ = 0;
};

// Tests the model on data. REQUIRES: its testing graph was built.
Logs evaluate(ModelEngine& model, const TrainingData& data, std::int64_t batch_size);

class FitLoop {
 public:
  FitLoop(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options);

  History run();

 private:
  Logs run_epoch(Training& training);
  void show_batch(Training& training, std::span<const Tensor> values, std::int64_t examples);

  Model& model_;
  ModelEngine& engine_;
  const FitOptions& options_;
  bool looks_at_batches_ = false;
  std::optional<Batches> batches_;
  std::optional<Batches> validation_batches_;
};

}  // namespace actorflow
