#include "actors/estimator/model_dir.h"

#include <fmt/format.h>

#include "actors/checkpoint/checkpoint.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

template <class Number>
void expect_at_least(Number least, std::string_view what, Number value) {
  if (!(value >= least))
    throw invalid_argument(
        fmt::format("RunConfig: expected {} of {} or more, got {}", what, least, value));
}

}  // namespace

void check_config(const RunConfig& config) {
  if (config.model_dir.empty())
    throw invalid_argument("RunConfig: model_dir is empty; name the folder for checkpoints and events");
  const auto& steps = config.save_checkpoints_steps;
  const auto& secs = config.save_checkpoints_secs;
  if (steps && secs)
    throw invalid_argument(fmt::format(
        "RunConfig: give save_checkpoints_steps ({}) or save_checkpoints_secs ({}), not both", *steps,
        *secs));
  if (steps) expect_at_least(std::int64_t{1}, "save_checkpoints_steps", *steps);
  if (secs && !(*secs > 0))
    throw invalid_argument(
        fmt::format("RunConfig: expected save_checkpoints_secs above 0, got {}", *secs));
  expect_at_least(0, "keep_checkpoint_max", config.keep_checkpoint_max);
  expect_at_least(std::int64_t{0}, "save_summary_steps", config.save_summary_steps);
  expect_at_least(std::int64_t{0}, "log_step_count_steps", config.log_step_count_steps);
}

std::shared_ptr<Runtime> runtime_of(const RunConfig& config) {
  const auto server = server_of(config.strategy);
  return server ? server->runtime() : nullptr;
}

Storage& storage_of(const RunConfig& config) {
  const auto runtime = runtime_of(config);
  return runtime ? runtime->storage() : posix_storage();
}

Every save_interval_of(const RunConfig& config) {
  if (config.save_checkpoints_steps) return {.steps = *config.save_checkpoints_steps};
  return {.seconds = config.save_checkpoints_secs.value_or(600)};
}

std::optional<std::int64_t> newest_whole_step(Storage& storage, const std::string& folder) {
  for (const auto& path : list_checkpoints(storage, folder)) try {
      if (verify_checkpoint(storage, path).empty()) return read_manifest(storage, path).global_step;
    } catch (const Error& error) {  // training says it, when it passes the checkpoint over
      if (error.code() != Code::data_loss && error.code() != Code::failed_precondition) throw;
    }
  return std::nullopt;
}

std::string eval_folder_of(const RunConfig& config, const std::string& name) {
  return config.model_dir + (name.empty() ? "/eval" : "/eval_" + name);
}

}  // namespace actorflow
