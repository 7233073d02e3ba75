// Saves a graph's variables and their optimizer slots to checkpoints, and restores them.
#pragma once

#include <chrono>
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
  // How long replicas that wait for each other may be held back for a checkpoint of one step.
  std::int64_t longest_hold_ms = 10'000;
};

struct SavedCheckpoint {
  std::string path;  // of the manifest
  std::int64_t global_step = 0;
  // Manifest::one_step.
  bool one_step = false;
  // For how long no replica could go on. 0: none was held back.
  std::chrono::nanoseconds stood_still{0};
};

// Each task writes and reads its own variables, all at once, into a folder that all tasks share under
// one path. Training goes on while a checkpoint is written: what is written was kept at one instant. In
// training whose replicas wait for each other, synchronous or with bounded staleness, that instant is
// one for all tasks: README.md says how, and when it cannot be. The parts of a partitioned variable are
// rows of one tensor in the checkpoint, so that it can be restored into any number of parts, with its
// slots. Slots that a sharded optimizer divides among replicas are saved whole, by the first one's
// task, with the other replicas' slices: they must be there. A graph may have several savers, for
// instance one of some of the variables. Thread-safe after construction, but save one checkpoint of a
// folder at a time.
class Saver {
 public:
  // Adds the nodes that save and restore to the graph, on the variables' tasks. `global_step` numbers
  // the checkpoints; it is saved if it is one of `variables`. Throws invalid_argument unless that is an
  // int64 scalar, for two variables of one name in the checkpoint, and for a name there that begins with
  // '@', which is extra state. REQUIRES: training has been added to the graph.
  Saver(Graph& graph, const std::vector<Variable>& variables, const Variable& global_step,
        SaverOptions options = {});

  // `storage` must be the disk that the tasks see. A checkpoint that is not of one step, though the
  // replicas wait for each other, is saved all the same, and logged. Throws what the session and the
  // storage throw: resource_exhausted for a full disk, failed_precondition for a variable without value
  // or a file that is not to be seen here, aborted if another chief saves here by now. The earlier
  // checkpoints stay whole; of an error that comes late, so may this one.
  SavedCheckpoint save(Session& session, Storage& storage, const std::string& folder) const {
    return save(session, storage, folder, options_.keep);
  }
  // The same, keeping others of the earlier checkpoints than SaverOptions says, with extra state, which
  // this process writes into a file of the checkpoint.
  SavedCheckpoint save(Session& session, Storage& storage, const std::string& folder,
                       const KeepOptions& keep, const ExtraState& extra = {}) const;
  const KeepOptions& keep() const { return options_.keep; }

  // Keeps all variables at one instant, as save() does before it writes, for TakeFromSnapshot nodes of
  // the folder `kept_to_read`; returns the global step then. Of asynchronous replicas, whom nothing
  // holds, it tries several instants to find one between their updates; if there is none, variables may
  // be a step apart. Throws what the session throws.
  static constexpr const char* kept_to_read = "(kept to be read)";
  std::int64_t keep_to_read(Session& session) const;

  // Restores all variables from the newest whole checkpoint in the folder and returns its global step;
  // nothing if there is no checkpoint. Newer damaged ones are logged, or with `strict` thrown. Throws as
  // restore_from(); skips a checkpoint that is removed meanwhile. `extra`, if given, is set to the extra
  // state that was saved with it.
  std::optional<std::int64_t> restore(Session& session, Storage& storage, const std::string& folder,
                                      bool strict = false, ExtraState* extra = nullptr) const;
  // Restores from this manifest. Slots that the checkpoint lacks start anew. Throws failed_precondition,
  // with all differences, if it does not have these variables with these types, and data_loss, with what
  // to do, for a missing or damaged file.
  std::int64_t restore_from(Session& session, Storage& storage, const std::string& manifest_path,
                            ExtraState* extra = nullptr) const;

 private:
  // The variables of one task.
  struct Part {
    std::vector<VariableInCheckpoint> places;  // may be empty at the task of the global step
    Output file;                               // placeholder
    Output snapshot, write, restore;
  };
  static bool has_variables(const Part& part) { return !part.places.empty(); }
  // What the tasks keep until it is written.
  struct Snapshot {
    std::int64_t global_step = -1;
    std::string differences;  // of what is not of one step; "" if all is
    bool late = false;        // some replica could not be held in time
    bool can_be_held = true;
    std::chrono::nanoseconds stood_still{0};
  };

  void add_part(Graph& graph, const std::string& device, Part part);
  void add_hold(Graph& graph);
  void add_slots_of_others(Graph& graph);
  void add_release(Graph& graph);
  Snapshot keep_one_step(Session& session, const std::string& folder) const;
  void warn_if_uneven(const Snapshot& kept, const std::string& what) const;
  Snapshot keep(Session& session, const std::string& folder, bool hold) const;
  Tensor own_replicas() const;
  std::vector<Manifest> write_parts(Session& session, const std::string& folder,
                                    const std::vector<std::string>& files, std::int64_t step) const;
  std::string differences(const Manifest& manifest) const;
  void run_restore(Session& session, const std::string& folder, const Manifest& manifest) const;

  const Graph* graph_;
  std::map<std::string, TensorType> wanted_;  // whole tensors, by name in the checkpoint
  std::vector<Part> parts_;
  Variable global_step_;
  bool saves_global_step_ = false;
  SaverOptions options_;
  Output folder_, step_, manifest_, replicas_;  // placeholders
  Output held_, released_;
  // Of a sharded optimizer: the variables, and what the other replicas have of their slots.
  std::vector<std::string> sliced_;
  std::vector<Output> slots_of_others_;
};

}  // namespace actorflow
