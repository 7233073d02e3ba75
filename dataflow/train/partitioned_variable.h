// Partitioned variables, for tables that are too large or too busy for one parameter server: cut along
// the first axis into parts, each a variable that can be on a task of its own.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow {

// Returns the number of rows of each part of a variable of this type; together, all of its rows.
using Partitioner = std::function<std::vector<std::int64_t>(const TensorType&)>;

// Parts of equal size; the first ones have one row more where rows are left over. Throws
// invalid_argument unless `parts` is 1 or more.
Partitioner fixed_size_partitioner(int parts);

// The fewest parts of equal size with at most `max_part_bytes` each, but at least one row; at most
// `max_parts` of them, 0 = any number. (TensorFlow's variable_axis_size_partitioner.)
Partitioner variable_axis_size_partitioner(std::int64_t max_part_bytes, int max_parts = 0);

// Makes the initial value of a part: of this shape, beginning at this row of the whole.
using PartInitializer = std::function<Output(const Shape& shape, std::int64_t first_row)>;

class PartitionedVariable {
 public:
  // REQUIRES: one or more parts, in order, each of them a slice of the variable `name`.
  PartitionedVariable(std::string name, TensorType type, std::vector<Variable> parts);

  const std::string& name() const { return name_; }
  const TensorType& type() const { return type_; }
  std::int64_t rows() const { return type_.shape[0]; }
  const std::vector<Variable>& parts() const { return parts_; }
  // The first row of each part, and the number of rows behind the last.
  const std::vector<std::int64_t>& boundaries() const { return boundaries_; }

 private:
  std::string name_;
  TensorType type_;
  std::vector<Variable> parts_;
  std::vector<std::int64_t> boundaries_;
};

// The variable `name` in parts "name/part_0", "name/part_1", ..., which a replica_device_setter() puts
// on successive parameter servers. To train it, add its parts to the variables of minimize(); whole()
// and embedding_lookup() (kernels/ops/embedding.h) read it. Throws invalid_argument if the shape is not
// fully known or has no rows, or if the partitioner's parts do not add up to its rows.
PartitionedVariable partitioned_variable(Graph& graph, std::string_view name, const TensorType& type,
                                         const PartInitializer& initial, const Partitioner& partitioner);

}  // namespace actorflow
