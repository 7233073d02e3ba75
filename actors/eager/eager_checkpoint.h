// Checkpoints of training loops of one's own.
//
//   model.build({{DType::float32, {-1, 784}}});  // before there are no variables
//   const EagerState state{model.variables(), {optimizer}};
//   std::int64_t step = restore_eager(posix_storage(), "runs/gan", state).value_or(0);
//   ...
//   save_eager(posix_storage(), "runs/gan", state, step);
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

// What a checkpoint keeps: variables by their names, and what optimizers have beside those. Of several
// optimizers of one kind their order counts. The learning rates, and the numbers of dropout's steps, are
// the program's.
struct EagerState {
  std::vector<EagerVariable> variables;
  std::vector<std::reference_wrapper<EagerOptimizer>> optimizers = {};
};

// Writes a checkpoint (checkpoint.h), of which Model::load_weights() takes the weights. Throws
// invalid_argument if there is no variable, already_exists for two of one name, and what the storage
// throws; the earlier checkpoints stay whole. Returns the path of the manifest.
std::string save_eager(Storage& storage, const std::string& folder, const EagerState& state,
                       std::int64_t step, const KeepOptions& keep = {});

// Gives the variables and optimizers what the newest whole checkpoint has, and returns its step; none if
// there is no checkpoint. Of a variable that an optimizer had not updated, as in one of
// Model::save_weights(), it has no state afterwards. Throws failed_precondition, with all differences
// and nothing changed, if variables or slots are missing or of another type, and what
// load_newest_whole_checkpoint() throws.
std::optional<std::int64_t> restore_eager(Storage& storage, const std::string& folder,
                                          const EagerState& state);

}  // namespace actorflow
