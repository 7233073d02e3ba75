// The folder of an estimator: its checks, and its layout. For this folder only.
//
//   step-<n>...           checkpoints (checkpoint/checkpoint.h)
//   training-complete     the steps of a training that is complete (monitored/training_end.h)
//   events.out.tfevents.  of training
//   eval/, eval_NAME/     event files of evaluations
//   export/               the exported model
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/estimator/run_config.h"
#include "actors/monitored/step_timer.h"
#include "actors/runtime/runtime.h"
#include "actors/runtime/storage.h"

namespace actorflow {

// Throws invalid_argument for a configuration that makes no sense.
void check_config(const RunConfig& config);

// The runtime of the strategy's server; null if the strategy has no server.
std::shared_ptr<Runtime> runtime_of(const RunConfig& config);
// The disk of the strategy's server, or real files.
Storage& storage_of(const RunConfig& config);
Every save_interval_of(const RunConfig& config);
// The step of the newest checkpoint that is whole, which is read for that.
std::optional<std::int64_t> newest_whole_step(Storage& storage, const std::string& folder);
std::string eval_folder_of(const RunConfig& config, const std::string& name);

inline bool is_interrupted(const RunConfig& config) { return config.interrupted && *config.interrupted; }

}  // namespace actorflow
