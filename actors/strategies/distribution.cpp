#include "actors/strategies/distribution.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>

#include "actors/checkpoint/start_number.h"
#include "actors/strategies/elastic_task.h"
#include "dataflow/cluster/task_config.h"
#include "dataflow/values/error.h"
#include "schema/environment/task_from_environment.h"

namespace actorflow {

namespace {

// The server of this process by its environment; null if that names no task.
std::shared_ptr<Server> server_from_environment(const ReplicaOptions& replica, ServerOptions options) {
  const auto task = task_from_environment();
  if (!task) return nullptr;
  const TaskConfig& config = *task;
  if (config.is_evaluator())
    throw invalid_argument("TF_CONFIG: the task is an evaluator, which is not part of training");
  options.cluster = config.cluster;
  options.job = config.task.job;
  options.task = config.task.index;
  options.connect_timeout_ms = replica.connect_timeout_ms;
  if (!replica.checkpoint_folder.empty())
    options.start_number = take_start_number(posix_storage(), replica.checkpoint_folder, config.task);
  return std::make_shared<Server>(std::move(options));
}

// As `actorflow launch` hands them to its tasks.
void take_credentials(ServerOptions& options) {
  const char* folder = std::getenv("ACTORFLOW_CREDENTIALS");
  if (!folder || !*folder) return;
  if (options.insecure)
    throw Error(Code::failed_precondition,
                fmt::format("the program sets ServerOptions::insecure, but ACTORFLOW_CREDENTIALS names "
                            "the credentials '{}'; omit insecure, or unset the variable (launch "
                            "without --secure and --tls)",
                            folder));
  if (options.credentials.empty()) options.credentials = folder;
}

const Server* server_of(const OneDevice&) { return nullptr; }
const Server* server_of(const Mirrored&) { return nullptr; }
const Server* server_of(const ElasticMirrored&) { return nullptr; }
const Server* server_of(const auto& strategy) { return strategy.server.get(); }

}  // namespace

Distribution distribution_from_environment(const ReplicaOptions& replica, ServerOptions options) {
  take_credentials(options);
  if (is_elastic_task()) {
    options.connect_timeout_ms = replica.connect_timeout_ms;
    return ElasticMirrored{std::make_shared<ElasticTask>(std::move(options)), replica};
  }
  auto server = server_from_environment(replica, std::move(options));
  if (!server) return OneDevice{};
  if (server->cluster().contains({"ps", 0})) return ParameterServer{std::move(server), replica};
  return MultiWorkerMirrored{std::move(server), replica};
}

Distribution pipeline_from_environment(const PipelineOptions& cut, const ReplicaOptions& replica,
                                       ServerOptions options) {
  take_credentials(options);
  return Pipeline{server_from_environment(replica, std::move(options)), cut, replica};
}

bool is_chief(const Distribution& strategy) {
  if (const auto* elastic = std::get_if<ElasticMirrored>(&strategy)) return elastic->task->rank() == 0;
  const Server* server = std::visit([](const auto& chosen) { return server_of(chosen); }, strategy);
  return !server || TaskConfig::make(server->cluster(), server->name()).is_chief();
}

}  // namespace actorflow
