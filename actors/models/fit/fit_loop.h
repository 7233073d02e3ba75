// The loop of Model::fit(). For actors/models only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/models/fit/fit_callbacks.h"
#include "actors/models/fit/fit_data.h"
#include "actors/models/logs/progress_line.h"
#include "actors/models/logs/totals.h"
#include "actors/models/model_engine.h"

namespace actorflow {

// Tests the model on data. REQUIRES: its testing graph was built.
Logs evaluate(ModelEngine& model, const TrainingData& data, const EvaluateOptions& options);

// The logs of an epoch: the measurements of its training and, if it is one that validates, those of the
// model on the validation data, made in the present session.
Logs logs_of_epoch(ModelEngine& model, const Totals& training, FitData& data, int epoch);

// Training in this process. REQUIRES: all that it is given outlives it.
class FitLoop {
 public:
  FitLoop(Model& model, ModelEngine& engine, const TrainingData& data, const FitOptions& options);

  History run();

 private:
  Logs run_epoch();
  bool is_whole_epoch() const;
  Tuple values_of(std::vector<Tuple> parts, std::int64_t examples) const;
  std::vector<Tensor> run_step(std::vector<Tuple> parts, std::int64_t examples);

  ModelEngine& engine_;
  const TrainingData& source_;
  const FitOptions& options_;
  TrainingStep* step_;  // of the engine
  std::optional<FitData> data_;
  Totals totals_;  // of the present epoch
  std::optional<FitContext> context_;
  std::optional<FitCallbacks> callbacks_;
};

}  // namespace actorflow
