#include "dataflow/train/update_nodes.h"

namespace actorflow {

Attrs update_attrs(const Training& t, const Variable& variable) {
  const Optimizer optimizer = t.optimizer.of(variable);
  return {{"variable", variable.name()},
          {"optimizer", optimizer.name()},
          {"hyperparameters", optimizer.hyperparameters()},
          {"skip_not_finite", t.replication.not_finite == NotFinite::skip}};
}

std::string beside(const GradientAndVariable& update, const char* what) {
  return std::string(what) + "/" + update.variable.name();
}

GradientInputs::GradientInputs(Output gradient) {
  for (const auto& rows : indexed_slices(gradient))
    outputs.insert(outputs.end(), {rows.values, rows.indices});
  sparse = !outputs.empty();
  if (!sparse) outputs.push_back(gradient);
}

}  // namespace actorflow
