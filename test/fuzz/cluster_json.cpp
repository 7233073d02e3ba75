// Clusters and TF_CONFIG in JSON.
#include "schema/cluster_json.h"
#include "test/fuzz/support/target.h"

using namespace actorflow;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string json = fuzz::text(fuzz::input(data, size));
  fuzz::accepts([&] {
    const ClusterSpec cluster = parse_cluster(json);
    for (const auto& task : cluster.all_tasks())
      fuzz::require(!cluster.address(task).empty(), "every task has an address");
  });
  fuzz::accepts([&] {
    const TaskConfig config = parse_tf_config(json);
    for (const auto& replica : config.replicas)
      fuzz::require(config.cluster.contains(replica), "who trains is in the cluster");
  });
  return 0;
}
