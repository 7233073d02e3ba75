// Tasks of a replicated job that are no replicas.
#include <fmt/format.h>

#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/replica_run.h"

namespace actorflow {

std::string serve_parameters(Server& server, const ReplicaOptions& options) {
  constexpr std::int64_t poll_ms = 1000;
  while (!server.join_for(poll_ms))
    if (is_complete(server.runtime()->storage(), options.checkpoint_folder, options.train_steps))
      return fmt::format("training is complete: its mark in {} has step {}", options.checkpoint_folder,
                         options.train_steps);
  throw_if_failed(server);
  return server.join();
}

}  // namespace actorflow
