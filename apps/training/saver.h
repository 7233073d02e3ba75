// Saves a graph's variables to checkpoints, and puts them back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/session.h"
#include "actors/storage.h"
#include "dataflow/graph.h"

namespace actorflow {

// Thread-safe after construction.
class Saver {
 public:
  // Adds to the graph what assigns restored values, beside each variable. `global_step`, one of
  // `variables`, numbers the checkpoints.
  Saver(Graph& graph, std::vector<Variable> variables, const Variable& global_step);

  // Returns the path of the new checkpoint. Throws what save_checkpoint and the session throw.
  std::string save(Session& session, Storage& storage, const std::string& folder) const;

  // The global step of the newest checkpoint in the folder, whose values all variables now have; nothing
  // if there is none. Throws failed_precondition if the checkpoint is of other variables.
  std::optional<std::int64_t> restore(Session& session, Storage& storage,
                                      const std::string& folder) const;

 private:
  std::vector<Variable> variables_;
  Variable global_step_;
  std::vector<Output> values_;   // placeholders, one per variable
  std::vector<Output> assigns_;  // nodes that give a variable its fed value
};

}  // namespace actorflow
