// The ops with which the tasks of a cluster write and read their parts of a checkpoint.
//
// Both have these attributes, with one element for each variable: variables, its name in the shard;
// names, the name of its tensor in the checkpoint (both string[n]). A variable that holds a slice of its
// tensor has first_rows, the first row of the slice; full_rows, the number of rows of the tensor; and
// rows, its own number of rows. full_rows and rows are -1 if the variable is the whole tensor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/op.h"

namespace actorflow {

// (folder string, file string, global_step int64) -> string: writes the variables and their optimizer
// slots, as they are when the node runs, to that file, and returns the encoded manifest of the file.
const OpDef& save_variables_op();
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
