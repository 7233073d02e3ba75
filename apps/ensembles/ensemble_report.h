// Reports on an ensemble: as text, as JSON, and as pictures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/ensembles/ensemble.h"
#include "apps/training/data/labelled_data.h"

namespace actorflow {

struct EnsembleReport {
  std::string data, model, method, vote;
  std::vector<int> members;          // their numbers
  EnsembleScore test;                // on the test examples
  std::vector<double> train_losses;  // of the members' last epochs
  std::optional<double> out_of_bag;
  double train_seconds = 0;
};

// One JSON object: the fields, with "mean_of_members", "best_member" and "gain".
std::string to_json(const EnsembleReport& report);
// A few lines for people.
std::string to_text(const EnsembleReport& report);

// Writes members.svg, loss.svg (of members that were trained), confusion.svg and, where there are some,
// mistakes.svg. `tested`: the examples {examples, labels} of the report's scores.
void save_plots(const std::string& folder, const EnsembleReport& report,
                const std::vector<History>& histories, const LabelledData& data, const Tuple& tested);

}  // namespace actorflow
