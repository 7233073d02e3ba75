// Clusters written in JSON.
#pragma once

#include <string>

#include "dataflow/cluster/cluster_spec.h"
#include "dataflow/cluster/task_config.h"

namespace actorflow {

// {"ps": ["host:port", ...], "worker": {"0": "host:port", "3": ...}}, as it is or as the member
// "cluster" of an object. Throws one invalid_argument that says where the text is no JSON, or lists
// every mistake in what it says.
ClusterSpec parse_cluster(const std::string& json);

// `text` if it is JSON, else the contents of the file of that name. Throws not_found too.
ClusterSpec read_cluster(const std::string& text_or_file);

// TF_CONFIG, as distributed TensorFlow reads it: {"cluster": {...}, "task": {"type": "worker",
// "index": 0}}; other members are left alone. Throws as parse_cluster() and TaskConfig::make(), all
// mistakes in one error.
TaskConfig parse_tf_config(const std::string& json);

}  // namespace actorflow
