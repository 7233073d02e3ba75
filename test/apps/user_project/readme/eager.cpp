// What actors/eager/README.md takes for granted: examples in batches.
#include <utility>
#include <vector>

#include "actors/actorflow.h"

using namespace actorflow;

std::vector<Tensor> learn(const std::vector<std::pair<Tensor, Tensor>>& batches, const Tensor& images) {
  // @snippet@
  return probabilities;
}
