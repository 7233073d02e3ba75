// Reading partitioned variables: lookups that fetch only the needed rows from each part, and the whole
// variable.
#pragma once

#include "dataflow/train/partitioned_variable.h"
#include "kernels/ops.h"

namespace actorflow {

// The part that has the row of an id. With `div` the parts are consecutive ranges of ids. With `mod` it
// is row id / parts of part id % parts, which spreads neighbouring ids, such as those of the most
// frequent words, over all parts. TensorFlow's default is `mod`; here it is `div`, with which whole() is
// in the order of the ids.
enum class PartitionStrategy : std::uint8_t { div, mod };

// The rows for these ids, int32 or int64 of any shape: [ids' dimensions, a row's dimensions]. Each part
// is gathered on its own device and sends only these rows; its gradient is row-sparse. An id outside of
// the table fails when it runs, naming id, place and rows. Throws invalid_argument for `mod` unless the
// parts are equal, except that the first ones may have one row more, as the partitioners make them.
Output embedding_lookup(const PartitionedVariable& table, Output ids,
                        PartitionStrategy strategy = PartitionStrategy::div);

// The whole variable: all parts, one after the other.
Output whole(const PartitionedVariable& variable);

// A partitioned variable whose parts begin with the values of `initial`.
PartitionedVariable partitioned_variable(Graph& graph, std::string_view name, Output initial,
                                         const Partitioner& partitioner);

}  // namespace actorflow
