#include "dataflow/ops/replica_attrs.h"

#include <string>

#include "dataflow/graph/op_attrs.h"

namespace actorflow {

std::vector<AttrDef> replica_attrs() {
  return {required_int("replica"), required_int("replicas_to_aggregate"),
          required_int("total_num_replicas")};
}

void expect_replica(const InferContext& c) {
  const auto replica = c.attr<std::int64_t>("replica");
  const auto total = c.attr<std::int64_t>("total_num_replicas");
  if (total < 1 || replica < 0 || replica >= total)
    c.fail("a replica below total_num_replicas",
           "replica " + std::to_string(replica) + " of " + std::to_string(total));
}

void expect_replicas(const InferContext& c) {
  expect_replica(c);
  const auto wanted = c.attr<std::int64_t>("replicas_to_aggregate");
  if (wanted < 1) c.fail("replicas_to_aggregate of 1 or more", std::to_string(wanted));
}

}  // namespace actorflow
