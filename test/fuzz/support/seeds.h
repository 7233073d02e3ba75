// Seeds of the corpora: real data, and the output of our own writers.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "dataflow/graph/graph.h"

namespace actorflow::fuzz {

using Bytes = std::vector<std::byte>;

inline Bytes to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
inline Bytes operator+(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Adds a seed to the corpus of a target.
using AddSeed = std::function<void(const std::string& target, const Bytes& bytes)>;

// A model and everything that trains it, with most ops.
const GraphDef& training_graph();

void add_data_seeds(const AddSeed& add);  // idx, npy, parquet, csv, cifar10, png, onnx, tfrecord, record
void add_cluster_seeds(const AddSeed& add);  // cluster_flags, cluster_json
void add_message_seeds(const AddSeed& add);  // message, tensor, graph
void add_wire_seeds(const AddSeed& add);     // frame, port, bulk
void add_checkpoint_seeds(const AddSeed& add);

}  // namespace actorflow::fuzz
