// The attributes by which ops of replicated training name a replica. For this folder's sources only.
#pragma once

#include <vector>

#include "dataflow/graph/op.h"

namespace actorflow {

// replica, replicas_to_aggregate and total_num_replicas.
std::vector<AttrDef> replica_attrs();

// Refuse a replica that is not one of total_num_replicas; fewer than 1 replicas_to_aggregate, too.
void expect_replica(const InferContext& c);
void expect_replicas(const InferContext& c);

}  // namespace actorflow
