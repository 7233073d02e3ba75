// Clusters written in JSON.
#pragma once

#include <string>

#include "dataflow/cluster_spec.h"

namespace actorflow {

// {"ps": ["host:port", ...], "worker": {"0": "host:port", "3": ...}}, as it is or as the member
// "cluster" of an object. Throws invalid_argument that says where the text is wrong or lists the
// mistakes.
ClusterSpec parse_cluster(const std::string& json);

// `text` if it is JSON, else the contents of the file of that name. Throws not_found too.
ClusterSpec read_cluster(const std::string& text_or_file);

}  // namespace actorflow
