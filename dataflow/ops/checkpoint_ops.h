// The ops with which the tasks of a cluster write and read their parts of a checkpoint.
//
// SnapshotVariables and RestoreVariables have these attributes, lists with an element for each variable.
// variables, string[n]: its name in the shard. names, string[n]: the name of its tensor in the
// checkpoint. For a variable that is a slice of that tensor: first_rows, the first row of the slice;
// full_rows, the number of rows of the whole tensor; rows, the number of rows of the slice. full_rows
// and rows are -1 for a variable that is the whole tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/op.h"

namespace actorflow {

// (folder string, held int64) -> (global_step int64, updates string[n], numbers int64[n, 3]): keeps the
// present values of the variables and their optimizer slots, for a WriteSnapshot into that folder, and
// drops an earlier snapshot for it. Only values on a GPU are copied: an update makes a new value while a
// snapshot holds the old one. The value of `held` is ignored; as an input it orders the node after the
// hold. Attr global_step: the name of the global step if that is on this task; its value is then the
// first output, else -1. Where slots are divided among replicas, attr sliced names the variables
// concerned, and further inputs bring the other replicas' slices of their slots (ReadSlotSlices).
//
// The other outputs say which updates the variables have had, so that the snapshots of several tasks can
// be compared. `updates` has the kinds of updates: "" for synchronous ones, "<train op>/<replica>" for
// others. `numbers` has a row for each kind: the lowest and the highest number of the last such update
// over the variables that have had one, and the number that the global step has counted; -1 where there
// is none.
const OpDef& snapshot_variables_op();
// (folder string, file string, global_step int64) -> string: writes the snapshot of the folder to that
// file and drops the snapshot; returns the encoded manifest of the file. Without a file, "", it only
// drops the snapshot, if there is one, and returns "".
const OpDef& write_snapshot_op();
// (folder string) -> (value, state uint8[?]): the value of a variable, and its value and slots as
// ReadState's bytes, as the last SnapshotVariables for that folder has kept them; takes both out of the
// snapshot. Attrs: name, that of the variable's tensor in the checkpoint; its dtype and shape. Aborted
// if the snapshot has no such tensor. REQUIRES: the variable is no slice.
const OpDef& take_from_snapshot_op();
// (folder string, manifest string) -> (): sets the variables and their slots to the values in the
// checkpoint.
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
