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

std::vector<GradientAndVariable> transformed(const Training& t,
                                             const std::vector<GradientAndVariable>& gradients) {
  if (!t.replication.transform) return gradients;
  auto changed = t.replication.transform(gradients);
  if (changed.size() != gradients.size())
    throw invalid_argument("the transformation of gradients returned " + std::to_string(changed.size()) +
                           " of " + std::to_string(gradients.size()) + " gradients");
  for (std::size_t i = 0; i < changed.size(); ++i) {
    const Variable& variable = gradients[i].variable;
    const std::string what = "the transformed gradient of variable '" + variable.name() + "'";
    expect_in_graph(t.graph, changed[i].gradient, what);
    if (changed[i].variable.name() != variable.name())
      throw invalid_argument(what + " is returned for variable '" + changed[i].variable.name() + "'");
    if (changed[i].gradient.type() != gradients[i].gradient.type())
      throw invalid_argument(what + " is " + changed[i].gradient.type().to_string() + "; expected " +
                             gradients[i].gradient.type().to_string());
  }
  return changed;
}

GradientInputs::GradientInputs(Output gradient, bool keep_rows) {
  if (keep_rows)
    for (const auto& rows : indexed_slices(gradient))
      outputs.insert(outputs.end(), {rows.values, rows.indices});
  sparse = !outputs.empty();
  if (!sparse) outputs.push_back(gradient);
}

}  // namespace actorflow
