// The loop of Model::fit(). For actors/models only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/models/fit/fit_data.h"
#include "actors/models/fit/progress_line.h"
#include "actors/models/fit/totals.h"
#include "actors/models/model_engine.h"

namespace actorflow {

// Tests the model on data. REQUIRES: its testing graph was built.
Logs evaluate(ModelEngine& model, const TrainingData& data, std::int64_t batch_size);

// Measures the model on batches, in the present session.
Logs test(ModelEngine& model, Batches& batches);

// Training in this process.
class FitLoop {
 public:
  FitLoop(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options);

  History run();

 private:
  Logs run_epoch(FitContext& training);
  void show_batch(FitContext& training, std::span<const Tensor> values, std::int64_t examples);

  Model& model_;
  ModelEngine& engine_;
  const FitOptions& options_;
  bool looks_at_batches_ = false;
  std::optional<FitData> data_;
};

}  // namespace actorflow
