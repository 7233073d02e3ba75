// Gradients through the subgraphs of control flow.
#pragma once

#include <vector>

#include "dataflow/graph/gradient.h"

namespace actorflow {

// gradients() of those results that a gradient arrives for; empty where nothing flows to a target.
inline std::vector<Output> gradients_through(const std::vector<Output>& results,
                                             const std::vector<Output>& arriving,
                                             const std::vector<Output>& targets) {
  std::vector<Output> from, gradients_of_them;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!is_floating(results[i].dtype()) || !arriving[i]) continue;
    from.push_back(results[i]);
    gradients_of_them.push_back(arriving[i]);
  }
  if (from.empty()) return std::vector<Output>(targets.size());
  return gradients(from, gradients_of_them, targets);
}

}  // namespace actorflow
