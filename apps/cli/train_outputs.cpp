#include "apps/cli/train_outputs.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <filesystem>

#include "actors/checkpoint/folder.h"
#include "actors/monitored/training_end.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"
#include "apps/training/learning_rate.h"
#include "apps/training/models/model_file.h"
#include "dataflow/graph/precision.h"

namespace actorflow {
namespace {

std::string describe(const TrainedModel& model) {
  return fmt::format("{} for {} in {} classes", describe(model.choice), model.data.example.to_string(),
                     model.data.classes);
}

// Throws UsageError if the checkpoints in the folder are of another model.
void write_model(const std::string& folder, const TrainedModel& model) {
  Storage& storage = posix_storage();
  if (!latest_step(storage, folder) || !storage.exists(model_file_in(folder)))
    return write_model_file(storage, folder, model);
  if (const TrainedModel saved = read_model_file(storage, folder); saved != model)
    throw UsageError(
        fmt::format("--checkpoint_dir: the checkpoints in {} are of {}, but this is {}; name "
                    "another folder, or train that one",
                    folder, describe(saved), describe(model)));
}

void check_folder(std::string_view flag, std::string_view what, const std::string& folder) {
  if (folder.empty()) return;
  try {
    expect_folder_for(what, posix_storage(), folder);
  } catch (const Error& error) {
    if (error.code() == Code::disk_error) throw;  // it may pass
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

std::string strategy_name(const TrainOptions& options, const TrainFlags& flags, int workers) {
  if (!flags.distribution.empty()) return flags.distribution;
  if (!is_all_reduce(options.strategy)) return "parameter_server";
  return workers == 1 ? "one_device" : "multi_worker";
}

RunDescription description(const TrainOptions& options, const TrainFlags& flags,
                           const LabelledData& data, int workers) {
  return {.version = ACTORFLOW_VERSION,
          .data = std::filesystem::absolute(data_path(flags.data)).lexically_normal().string(),
          .model = options.model.name,
          .settings = to_string(options.model.settings),
          .strategy = strategy_name(options, flags, workers),
          .precision = std::string(to_string(options.precision)),
          .optimizer = describe_optimizer_of(options),
          .learning_rate = describe_learning_rate(options),
          .device = options.device.empty() ? "cpu" : options.device,
          .workers = workers,
          .batch_size = options.batch_size,
          .train_steps = options.train_steps,
          .epochs = epochs_of_steps(options.train_steps, data.train_count, options, workers),
          .seed = options.seed,
          .flags = flags.arguments()};
}

}  // namespace

void check_checkpoint_folder(const TrainOptions& options) {
  check_folder("--checkpoint_dir", "checkpoints", options.checkpoint_folder);
}

void prepare_outputs(const TrainOptions& options, const TrainFlags& flags, const LabelledData& data,
                     int workers) {
  check_checkpoint_folder(options);
  check_folder("--summary_dir", "summaries", options.summary_folder);
  check_folder("--plots", "pictures", options.plots_folder);
  if (!flags.report.empty()) check_usage([&] { expect_report_at(flags.report); });
  if (!options.checkpoint_folder.empty())
    write_model(options.checkpoint_folder, {options.model, data.types});
  if (is_synchronous(options.strategy) && workers > 1)
    spdlog::info("a step takes {} {}, {} of each of {} workers; the learning rate is {}",
                 workers * options.batch_size, data.noun, options.batch_size, workers,
                 describe_learning_rate(options));
}

void publish(TrainReport report, const TrainOptions& options, const TrainFlags& flags,
             const LabelledData& data, int workers) {
  if (flags.report != "-")
    fmt::print(
        "test accuracy {:.2f} %, loss {:.4f} after {} {}hronous steps in {:.1f} s; weights {:016x}\n",
        100 * report.test_accuracy, report.test_loss, report.global_step, report.mode,
        report.train_seconds, report.weights_hash);
  if (flags.report.empty()) return;
  report.run = description(options, flags, data, workers);
  write_report(flags.report, to_json(report));
}

}  // namespace actorflow
