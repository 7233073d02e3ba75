// Checkpoints of training loops of one's own.
//
//   const EagerState state{model.variables(), {optimizer}};
//   std::int64_t step = restore_eager("runs/gan", state).value_or(0);
//   ...
//   save_eager("runs/gan", state, step);
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "kernels/eager/eager_optimizer.h"
#include "kernels/eager/eager_variable.h"

namespace actorflow {

// What a checkpoint keeps: variables by their names, and what optimizers have beside those. The learning
// rates, and the numbers of dropout's steps, are the program's.
struct EagerState {
  std::vector<EagerVariable> variables;
  std::vector<std::reference_wrapper<EagerOptimizer>> optimizers = {};
};

// Writes a checkpoint (checkpoint.h), of which Model::load_weights() takes the weights. Throws
// already_exists for two variables of one name, or two optimizers of one name that update one variable,
// and what the storage throws; the earlier checkpoints stay whole. Returns the path of the manifest.
std::string save_eager(const std::string& folder, const EagerState& state, std::int64_t step,
                       const KeepOptions& keep = {}, Storage& storage = posix_storage());

// Gives the variables and optimizers what the newest checkpoint has, and returns its step; none if there
// is no checkpoint. Of an optimizer that is not in it, as in one of Model::save_weights(), the state
// stays. Throws failed_precondition, with all differences and nothing changed, if a variable is missing
// or of another type, and what load_latest_checkpoint() throws.
std::optional<std::int64_t> restore_eager(const std::string& folder, const EagerState& state,
                                          Storage& storage = posix_storage());

}  // namespace actorflow
