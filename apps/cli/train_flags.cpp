#include "apps/cli/train_flags.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "actors/checkpoint/folder.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"
#include "apps/cli/train_flag_table.h"
#include "dataflow/train/replica_device_setter.h"

namespace actorflow {
namespace {

// Muon updates the matrices, AdamW the biases.
OptimizerChoice choice_of(const std::string& name, double learning_rate) {
  if (name == Muon::name) return muon_for_matrices(Muon{.learning_rate = learning_rate}, AdamW{});
  return make_optimizer(name, learning_rate);
}

// Rates at which a small perceptron learns well.
double default_learning_rate(const std::string& optimizer) {
  if (optimizer == "sgd") return 0.2;
  if (optimizer == "muon") return 0.02;
  if (optimizer == "lion") return 0.0001;
  if (optimizer == "momentum" || optimizer == "nesterov" || optimizer == "adagrad") return 0.05;
  return 0.001;
}

ImageData load_from(const std::string& folder) {
  try {
    return load_images(folder);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    throw Error(error.code(), fmt::format("{} with --data or --data_dir", error.what()));
  }
}

// "" as it is.
std::string absolute(const std::string& folder) {
  return folder.empty() ? folder : std::filesystem::absolute(folder).lexically_normal().string();
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

// Leaves the file as it is.
void check_report(const std::string& path) {
  const bool was_there = std::filesystem::exists(path);
  errno = 0;
  if (std::ofstream file(path, std::ios::app); !file)
    throw UsageError(
        fmt::format("--report: the report cannot be written to '{}': {}", path, std::strerror(errno)));
  if (!was_there) std::filesystem::remove(path);
}

}  // namespace

void TrainFlags::add_to(CLI::App& app) { train_flag_table().add_to(app, *this); }

bool TrainFlags::wants_sync() const { return sync || (sync_by_default && !async); }

std::vector<std::string> TrainFlags::arguments() const {
  TrainFlags said = *this;
  said.sync = wants_sync();  // trainer may have another default
  return train_flag_table().arguments(said);
}

Strategy TrainFlags::strategy() const {
  const auto contradict = [](const std::string& a, const std::string& b) {
    throw UsageError(fmt::format("{} contradicts {}; omit one of them", a, b));
  };
  if (sync && async) contradict("--async", "--sync_replicas (--sync)");
  if (wants_sync()) {
    if (staleness_bound && sync) contradict("--staleness_bound", "--sync_replicas (--sync)");
    if (staleness_bound)
      throw UsageError("--staleness_bound needs --async: without it training is synchronous here");
    return Synchronous{.replicas_to_aggregate = replicas_to_aggregate.value_or(0)};
  }
  if (replicas_to_aggregate && async) contradict("--replicas_to_aggregate", "--async");
  if (replicas_to_aggregate)
    throw UsageError(
        "--replicas_to_aggregate needs --sync_replicas (--sync): without it training is asynchronous "
        "here");
  if (staleness_bound) return BoundedStaleness{*staleness_bound};
  return Asynchronous{};
}

TrainOptions TrainFlags::options() const {
  TrainOptions options;
  if (model != "mlp" && hidden != TrainFlags{}.hidden)
    throw UsageError(
        fmt::format("--hidden is for --model=mlp, but the model is {}; omit one of them", model));
  options.model = {model, hidden};
  check_usage([&] {
    options.optimizer = choice_of(optimizer, learning_rate.value_or(default_learning_rate(optimizer)));
    make_ps_strategy(ps_strategy, 1);
    options.ps_strategy = ps_strategy;
  });
  options.batch_size = batch_size;
  options.strategy = strategy();
  options.precision = parse_precision(precision);
  if (not_finite == "skip") options.not_finite = NotFinite::skip;
  if (not_finite == "roll_back") {
    if (checkpoint_folder.empty())
      throw UsageError(
          "--not_finite=roll_back needs --checkpoint_dir, the folder with what to go back to");
    options.max_rollbacks = 3;
  }
  options.seed = seed;
  // Every task finds it by this path, wherever it was started.
  options.checkpoint_folder = absolute(checkpoint_folder);
  options.strict_restore = strict;
  options.summary_folder = absolute(summary_folder);
  options.save_summaries = {.steps = save_summaries_steps};
  options.save_checkpoint = {save_checkpoint_steps,
                             save_checkpoint_steps > 0 ? 0 : save_checkpoint_secs};
  options.connect_timeout_ms = std::llround(connect_timeout_s * 1000);
  return options;
}

ImageData TrainFlags::load(TrainOptions& options, int workers) const {
  const std::string folder = data_folder(data);
  if (folder.empty())
    throw UsageError("the project's images are not beside the program; name their folder with --data");
  ImageData images = load_from(folder);
  if (batch_size > images.train.count())
    throw UsageError(fmt::format("--batch-size is {}, but there are {} images to train on", batch_size,
                                 images.train.count()));
  options.train_steps =
      train_steps ? *train_steps : steps_for_epochs(epochs, images.train.count(), options, workers);
  return images;
}

void check_checkpoint_folder(const TrainOptions& options) {
  check_folder("--checkpoint_dir", "checkpoints", options.checkpoint_folder);
}

void check_outputs(const TrainOptions& options, const TrainFlags& flags) {
  check_checkpoint_folder(options);
  check_folder("--summary_dir", "summaries", options.summary_folder);
  if (!flags.report.empty() && flags.report != "-") check_report(flags.report);
}

void publish(const TrainReport& report, const TrainFlags& flags) {
  if (flags.report != "-")
    fmt::print("test accuracy {:.2f} % after {} {}hronous steps in {:.1f} s; weights {:016x}\n",
               100 * report.test_accuracy, report.global_step, report.mode, report.train_seconds,
               report.weights_hash);
  if (!flags.report.empty()) write_report(flags.report, report);
}

}  // namespace actorflow
