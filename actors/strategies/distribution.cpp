#include "actors/strategies/distribution.h"

#include <memory>
#include <utility>
#include <variant>

#include "actors/checkpoint/start_number.h"
#include "dataflow/cluster/task_config.h"
#include "dataflow/values/error.h"
#include "schema/cluster_json.h"

namespace actorflow {

Distribution distribution_from_environment(const ReplicaOptions& replica, ServerOptions options) {
  const auto text = tf_config();
  if (!text) return OneDevice{};
  const TaskConfig config = parse_tf_config(*text);
  if (config.is_evaluator())
    throw invalid_argument("TF_CONFIG: the task is an evaluator, which is not part of training");
  options.cluster = config.cluster;
  options.job = config.task.job;
  options.task = config.task.index;
  options.connect_timeout_ms = replica.connect_timeout_ms;
  if (!replica.checkpoint_folder.empty())
    options.start_number = take_start_number(posix_storage(), replica.checkpoint_folder, config.task);
  auto server = std::make_shared<Server>(std::move(options));
  if (config.cluster.contains({"ps", 0})) return ParameterServer{std::move(server), replica};
  return MultiWorkerMirrored{std::move(server), replica};
}

bool is_chief(const Distribution& strategy) {
  const auto of_server = [](const Server& server) {
    return TaskConfig::make(server.cluster(), server.name()).is_chief();
  };
  if (const auto* ps = std::get_if<ParameterServer>(&strategy)) return of_server(*ps->server);
  if (const auto* workers = std::get_if<MultiWorkerMirrored>(&strategy))
    return of_server(*workers->server);
  return true;
}

}  // namespace actorflow
