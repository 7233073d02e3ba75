// Saves a graph's variables and their optimizer slots to checkpoints, and restores them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/checkpoint/checkpoint.h"
#include "actors/client/session.h"
#include "actors/runtime/storage.h"
#include "dataflow/graph/graph.h"
#include "dataflow/ops/checkpoint_ops.h"

namespace actorflow {

struct SaverOptions {
  KeepOptions keep = {};
  // The names in the checkpoint of variables, or partitioned variables, that differ from their own.
  std::map<std::string, std::string> names = {};
};

// Each task writes and reads its own variables, all at once, into a folder that all tasks share under
// one path. Training may go on while a checkpoint is saved: it has the values of a task's variables at
// one instant. The parts of a partitioned variable are rows of one tensor in the checkpoint, so that it
// can be restored into any number of parts, with its slots. A graph may have several savers, for
// instance one for some of the variables. Thread-safe after construction, but save one checkpoint of a
// folder at a time.
class Saver {
 public:
  // Adds the nodes that save and restore to the graph, on the variables' tasks. `global_step` numbers
  // the checkpoints; it is saved if it is one of `variables`.
  Saver(Graph& graph, const std::vector<Variable>& variables, const Variable& global_step,
        SaverOptions options = {});

  // Returns the path of the new checkpoint's manifest. `storage` must be the disk that the tasks see.
  // Throws what the session and the storage throw: resource_exhausted for a full disk,
  // failed_precondition for a variable without value or a file that cannot be seen from here, aborted if
  // another chief saves here by now. Earlier checkpoints stay whole; after a late error this one may be
  // whole, too.
  std::string save(Session& session, Storage& storage, const std::string& folder) const;

  // Restores all variables from the newest whole checkpoint in the folder and returns its global step;
  // nothing if there is no checkpoint. Newer damaged ones are logged, or with `strict` thrown. Throws as
  // restore_from(); skips a checkpoint that is removed meanwhile.
  std::optional<std::int64_t> restore(Session& session, Storage& storage, const std::string& folder,
                                      bool strict = false) const;
  // Restores from this manifest. Slots that the checkpoint lacks start anew. Throws failed_precondition,
  // with all differences, if it does not have these variables with these types, and data_loss, with what
  // to do, for a missing or damaged file.
  std::int64_t restore_from(Session& session, Storage& storage, const std::string& manifest_path) const;

 private:
  // The variables of one task.
  struct Part {
    std::vector<VariableInCheckpoint> places;
    Output file;  // placeholder
    Output save, restore;
  };

  void add_part(Graph& graph, const std::string& device, Part part);
  std::vector<Manifest> save_parts(Session& session, const std::string& folder,
                                   const std::vector<std::string>& files, std::int64_t step) const;
  std::string differences(const Manifest& manifest) const;
  void run_restore(Session& session, const std::string& folder, const Manifest& manifest) const;

  std::map<std::string, TensorType> wanted_;  // whole tensors, by name in the checkpoint
  std::vector<Part> parts_;
  Variable global_step_;
  bool saves_global_step_ = false;
  SaverOptions options_;
  Output folder_, step_, manifest_;  // placeholders
};

}  // namespace actorflow
