#include "actors/estimator/run_config.h"

#include <variant>

#include "actors/checkpoint/folder.h"
#include "actors/estimator/model_dir.h"
#include "schema/environment/task_from_environment.h"

namespace actorflow {

RunConfig run_config_from_environment(RunConfig config, ServerOptions server, ReplicaOptions replica) {
  check_config(config);
  const auto task = task_from_environment();
  if (!task) return config;
  config.is_evaluator = task->is_evaluator();
  if (config.is_evaluator) return config;
  expect_checkpoint_folder(storage_of(config), config.model_dir);
  replica.checkpoint_folder = config.model_dir;
  config.strategy = distribution_from_environment(replica, std::move(server));
  return config;
}

std::shared_ptr<Server> server_of(const Distribution& strategy) {
  if (const auto* ps = std::get_if<ParameterServer>(&strategy)) return ps->server;
  if (const auto* workers = std::get_if<MultiWorkerMirrored>(&strategy)) return workers->server;
  if (const auto* pipeline = std::get_if<Pipeline>(&strategy)) return pipeline->server;
  return nullptr;
}

}  // namespace actorflow
