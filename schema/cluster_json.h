// Clusters written in JSON.
#pragma once

#include <optional>
#include <string>

#include "dataflow/cluster/cluster_spec.h"
#include "dataflow/cluster/task_config.h"

namespace actorflow {

// {"ps": ["host:port", ...], "worker": {"0": "host:port", "3": ...}}, at the top or as the member
// "cluster" of an object. Throws one invalid_argument that names the place where the text is no JSON, or
// lists every mistake in its content.
ClusterSpec parse_cluster(const std::string& json);

// Parses the argument itself if it is JSON, else the file of that name. Also throws not_found.
ClusterSpec read_cluster(const std::string& text_or_file);

// The value of the environment variable TF_CONFIG, if it is set, not empty, and has a cluster with jobs:
// a job on one machine may have one without.
std::optional<std::string> tf_config();

// TF_CONFIG, as distributed TensorFlow reads it: {"cluster": {...}, "task": {"type": "worker", "index":
// 0}}; other members are ignored. Throws as parse_cluster() and TaskConfig::make(), with all mistakes in
// one error.
TaskConfig parse_tf_config(const std::string& json);

}  // namespace actorflow
