// The attributes by which ops of replicated training name a replica. For this folder's sources only.
#pragma once

#include <vector>

#include "dataflow/graph/op.h"

namespace actorflow {

// The attributes replica, replicas_to_aggregate and total_num_replicas.
std::vector<AttrDef> replica_attrs();

// Throw unless the replica is one of total_num_replicas; the second also if replicas_to_aggregate is
// below 1.
void expect_replica(const InferContext& c);
void expect_replicas(const InferContext& c);

}  // namespace actorflow
