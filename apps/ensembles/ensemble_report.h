// Reports on an ensemble: as text, as JSON, and as pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble.h"
#include "apps/training/data/labelled_data.h"

namespace actorflow {

// What was run: what a reader has to know to compare it with another run, or to repeat it.
struct EnsembleRun {
  std::string data, path;               // "digits", and where it lies
  std::string model, settings;          // "mlp", "hidden=64"
  std::string method, method_settings;  // "bagging", "max_samples=0.5"
  std::string vote;
  std::vector<double> weights;  // of the votes; none: all the same
  std::string device;           // "cpu", or as it was asked for
  std::string loaded;  // the folder of saved members; what follows is of members trained here
  std::uint64_t seed = 0;
  std::int64_t epochs = 0, batch_size = 0;
  double learning_rate = 0;
};

struct EnsembleReport {
  EnsembleRun run;
  std::vector<int> members;          // their numbers
  EnsembleScore test;                // on the test examples
  std::vector<double> train_losses;  // of the members' last epochs
  std::optional<double> out_of_bag;
  double train_seconds = 0;
};

// One JSON object: the fields, first the version of the program and those of `run`, with
// "mean_of_members", "best_member" and "gain".
std::string to_json(const EnsembleReport& report);
// A few lines for people.
std::string to_text(const EnsembleReport& report);

// Writes members.svg, loss.svg (of members that were trained), confusion.svg and, where there are some,
// mistakes.svg. `tested`: the examples {examples, labels} of the report's scores.
void save_plots(const std::string& folder, const EnsembleReport& report,
                const std::vector<History>& histories, const LabelledData& data, const Tuple& tested);

}  // namespace actorflow
