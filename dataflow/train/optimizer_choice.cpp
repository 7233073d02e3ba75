#include "dataflow/train/optimizer_choice.h"

#include <algorithm>

namespace actorflow {
namespace {

bool is_matrix_or_filter(const Shape& shape) { return shape.rank() == 2 || shape.rank() == 4; }

}  // namespace

Optimizer OptimizerChoice::of(const Variable& variable) const {
  const Optimizer optimizer = choose_(variable);
  if (optimizer.name() == Muon::name && !is_matrix_or_filter(variable.type().shape))
    throw invalid_argument("muon updates matrices and filters only, but variable '" + variable.name() +
                           "' is " + variable.type().to_string() +
                           "; use muon_for_matrices(), which chooses another optimizer for it");
  return optimizer;
}

bool name_contains(const Variable& variable, const std::vector<std::string>& parts) {
  return std::ranges::any_of(
      parts, [&](const std::string& part) { return variable.name().find(part) != std::string::npos; });
}

OptimizerChoice muon_for_matrices(const Muon& muon, const Optimizer& others,
                                  const std::vector<std::string>& parts) {
  return [muon, others, parts](const Variable& variable) -> Optimizer {
    if (is_matrix_or_filter(variable.type().shape) && !name_contains(variable, parts)) return muon;
    return others;
  };
}

}  // namespace actorflow
