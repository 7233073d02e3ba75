// The flags of the program `ensemble`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/ensembles/ensemble.h"
#include "actors/jobs/job.h"
#include "apps/ensembles/saved_ensemble.h"
#include "apps/training/models/model_choice.h"

namespace actorflow {

// What they say, or what suits the model and the data where they say nothing. Where --load names a
// folder that says what its members are, that stands in place of flags.
struct EnsembleFlags {
  // Throws invalid_argument, naming the flag, what was expected and what came.
  explicit EnsembleFlags(Job& job);

  // The model with its settings. Of one that is loaded those that were saved, of which a flag may say
  // none otherwise: a model that has got more settings since then has the defaults of these.
  ModelChoice choice() const;
  // Where the data lie.
  std::string path() const;

  std::string name, saved;
  std::optional<SavedEnsemble> loaded;
  std::string data, model, settings, method, vote, report, plots, save, onnx, hidden, device;
  int members;
  Recipe recipe;
  int epochs;
  std::int64_t batch_size;
  double rate;
  std::string weights;
  EnsembleOptions options;
  DamagedMembers damaged;

 private:
  template <class T>
  T of_ensemble(const Job& job, const char* flag, const T& otherwise, T SavedEnsemble::*saved_as) const;
  Error contradiction(const std::string& given, const std::string& was) const;
  ModelChoice given_choice() const;
};

// Whether a model's recipe has a learning rate that changes during the training.
bool has_schedule(const Recipe& recipe);

}  // namespace actorflow
