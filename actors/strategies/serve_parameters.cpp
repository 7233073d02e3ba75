// Tasks of a replicated job that are no replicas.
#include <chrono>

#include "actors/monitored/training_end.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/replica_run.h"

namespace actorflow {

// The chief compares the settings, too, before its first step. It may have asked before they were
// published, and asks no more once it trains.
std::string serve_parameters(Server& server, const ReplicaOptions& options,
                             const ReplicaSettings& given) {
  constexpr std::int64_t poll_ms = 1000;
  bool has_met = given.empty() || server.stopping();
  if (!has_met) publish_settings(server, given);
  EndMark end_mark(server.runtime()->storage(), options.checkpoint_folder);
  do {
    const std::string why = end_mark.why_complete(options.train_steps);
    if (!why.empty()) return why;
    if (!has_met)
      has_met = expect_settings_of(server, replica_config(server, options).chief(), given,
                                   std::chrono::milliseconds(poll_ms));
  } while (!server.join_for(poll_ms));
  throw_if_failed(server);
  return server.join();
}

}  // namespace actorflow
