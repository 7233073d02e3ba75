// The ops with which the tasks of a cluster write and read their parts of a checkpoint.
//
// Both have these attributes, an element for each variable: variables, its name in the shard; names, that
// of the tensor in the checkpoint (both string[n]); first_rows, where its rows begin in that tensor if it
// holds a slice of it; full_rows, the rows of the whole tensor; rows, those of the variable; both are -1 if
// the variable is all of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/op.h"

namespace actorflow {

// (folder string, file string, global_step int64) -> string: writes the variables and their optimizer
// slots, as they are when the node runs, to that file; gives the manifest of the file, encoded.
const OpDef& save_variables_op();
// (folder string, manifest string) -> (): gives the variables, and their slots, what the checkpoint has.
const OpDef& restore_variables_op();

std::span<const OpDef* const> checkpoint_ops();

// What the attributes say of a variable.
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
