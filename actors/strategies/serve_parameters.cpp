// Tasks of a replicated job that are no replicas.
#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/replica_run.h"

namespace actorflow {

std::string serve_parameters(Server& server, const ReplicaOptions& options) {
  constexpr std::int64_t poll_ms = 1000;
  EndMark end_mark(server.runtime()->storage(), options.checkpoint_folder);
  do {
    const std::string why = end_mark.why_complete(options.train_steps);
    if (!why.empty()) return why;
  } while (!server.join_for(poll_ms));
  throw_if_failed(server);
  return server.join();
}

}  // namespace actorflow
