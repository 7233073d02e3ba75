// The ops with which the tasks of a cluster write and read their parts of a checkpoint.
//
// SnapshotVariables and RestoreVariables have these attributes, an element for each variable: variables,
// its name in the shard; names, that of the tensor in the checkpoint (both string[n]); first_rows, where
// its rows begin in that tensor if it holds a slice of it; full_rows, the rows of the whole tensor;
// rows, those of the variable; both are -1 if the variable is all of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/op.h"

namespace actorflow {

// (folder string, held int64) -> (global_step int64, updates string[n], numbers int64[n, 3]): keeps what
// the variables and their optimizer slots are when the node runs, for a WriteSnapshot into that folder;
// no earlier snapshot for it stays. Nothing is copied but from a GPU: an update makes a new value as
// long as a snapshot has the old one. `held` is not looked at: it says what comes before. Attr
// global_step: the name of that variable if it is on this task, whose value is the first output; ""
// gives -1. Where slots are divided among replicas: attr sliced names those variables, and further
// inputs are what the other replicas have of their slots (ReadSlotSlices).
//
// The other outputs say which updates the variables have had, by which those of several tasks can be
// compared. Of each kind of update, "" for synchronous ones or "<train op>/<replica>", a row: the lowest
// and the highest number of the last one in a variable that has had any, and what the global step has
// counted; -1 where there is none.
const OpDef& snapshot_variables_op();
// (folder string, file string, global_step int64) -> string: writes the snapshot of the folder to that
// file and lets go of it; gives the manifest of the file, encoded.
const OpDef& write_snapshot_op();
// (folder string, manifest string) -> (): gives the variables, and their slots, what the checkpoint has.
const OpDef& restore_variables_op();

std::span<const OpDef* const> checkpoint_ops();

// The attributes of one variable.
struct VariableInCheckpoint {
  std::string variable;
  std::string name;
  std::int64_t first_row = 0;
  std::int64_t full_rows = -1;
  std::int64_t rows = -1;
};
Attrs checkpoint_attrs(std::span<const VariableInCheckpoint> variables);
std::vector<VariableInCheckpoint> variables_in_checkpoint(const Node& node);

}  // namespace actorflow
