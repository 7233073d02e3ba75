// Reading partitioned variables: lookups that take from each part what they need, and the whole.
#pragma once

#include "dataflow/train/partitioned_variable.h"
#include "kernels/ops.h"

namespace actorflow {

// Which part has the row of an id: with `div` the parts are ranges of ids, one after the other; with
// `mod` part id % parts has it as its row id / parts, which spreads ids that are near each other, such
// as those of the most frequent words, over all parts. TensorFlow's default is `mod`; here it is `div`,
// for which whole() is in the order of the ids.
enum class PartitionStrategy : std::uint8_t { div, mod };

// The rows for these ids, int32 or int64 of any shape: [ids' dimensions, a row's dimensions]. Each part
// is gathered on its own device and sends only the rows that are asked for; its gradient is row-sparse.
// An id outside of the table fails when it runs, naming id, place and rows. Throws invalid_argument for
// `mod` unless the parts are equal but for one row that the first ones have more, as the partitioners
// make them.
Output embedding_lookup(const PartitionedVariable& table, Output ids,
                        PartitionStrategy strategy = PartitionStrategy::div);

// All parts, one after the other.
Output whole(const PartitionedVariable& variable);

// A partitioned variable that begins as the parts of `initial`.
PartitionedVariable partitioned_variable(Graph& graph, std::string_view name, Output initial,
                                         const Partitioner& partitioner);

}  // namespace actorflow
