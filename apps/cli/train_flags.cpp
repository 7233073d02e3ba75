#include "apps/cli/train_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>

#include "actors/checkpoint/folder.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/program.h"
#include "dataflow/train/replica_device_setter.h"

namespace actorflow {
namespace {

// Rates at which a small perceptron learns well.
double default_learning_rate(const std::string& optimizer) {
  if (optimizer == "sgd") return 0.2;
  if (optimizer == "momentum" || optimizer == "nesterov" || optimizer == "adagrad") return 0.05;
  return 0.001;
}

Mnist load_from(const std::string& folder) {
  try {
    return load_mnist(folder);
  } catch (const Error& error) {
    if (error.code() != Code::not_found) throw;
    throw Error(error.code(), fmt::format("{} with --data or --data_dir", error.what()));
  }
}

// "" as it is.
std::string absolute(const std::string& folder) {
  return folder.empty() ? folder : std::filesystem::absolute(folder).lexically_normal().string();
}

}  // namespace

void TrainFlags::add_to(CLI::App& app) {
  const auto add = [&app](const std::string& name, auto& value, const std::string& what) {
    return app.add_option(both_spellings(name), value, what)->capture_default_str();
  };
  app.add_option("--hidden,--hidden_units", hidden, "Sizes of the hidden layers, for example 512,128")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  add("optimizer", optimizer, "sgd, momentum, nesterov, adagrad, adam or rmsprop");
  app.add_option(both_spellings("learning-rate"), learning_rate,
                 "Learning rate; without it one that suits the optimizer")
      ->check(CLI::PositiveNumber);
  add("batch-size", batch_size, "Examples in one worker's step")->check(CLI::Range(1, 1 << 20));
  add("epochs", epochs, "Passes over the training images")->check(CLI::PositiveNumber);
  app.add_option(both_spellings("train-steps"), train_steps, "Global steps, in place of --epochs")
      ->check(CLI::PositiveNumber);
  add("seed", seed, "Decides the initial weights and the order of the images");
  add("ps-strategy", ps_strategy,
      "How variables go to the parameter servers: round_robin (by turns) or greedy (by bytes)");
  app.add_option("--data,--data_dir,--data-dir", data,
                 "Folder with four files as MNIST has, gzip or plain; mnist (the default) and digits are the "
                 "project's own");
  app.add_option("--checkpoint-dir,--checkpoint_dir", checkpoint_folder,
                 "Folder to restore the newest checkpoint from and to save to");
  app.add_flag("--strict", strict,
               "Fail where the newest checkpoint is damaged, in place of falling back to the newest whole one");
  add("save-checkpoint-secs", save_checkpoint_secs,
      "Seconds between checkpoints; 0 = none but the last")
      ->check(CLI::NonNegativeNumber);
  add("save-checkpoint-steps", save_checkpoint_steps, "Steps between checkpoints, in place of seconds")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--summary-dir,--summary_dir", summary_folder,
                 "Folder for TensorBoard's event files, which the chief writes; an evaluator's are in eval/");
  add("save-summaries-steps", save_summaries_steps, "Steps between summaries")
      ->check(CLI::PositiveNumber);
  app.add_option("--report", report, "File for a report in JSON; - for standard output");
  app.add_option(
         both_spellings("replicas-to-aggregate"), replicas_to_aggregate,
         "Synchronous: gradients of a step, in place of one of each worker. With fewer the slowest "
         "are dropped")
      ->check(CLI::PositiveNumber);
  app.add_option(
         both_spellings("staleness-bound"), staleness_bound,
         "Asynchronous: steps that a worker may be ahead of the slowest one; without it no bound")
      ->check(CLI::NonNegativeNumber);
  add("precision", precision,
      "To what factors of products may be rounded where that is faster: float32 (not at all), tf32 (on "
      "GPUs) or bf16 (on GPUs, and on CPUs with AMX)")
      ->check(CLI::IsMember({"float32", "tf32", "bf16"}));
  add("not-finite", not_finite,
      "What a loss or gradient that is NaN or infinite does: fail, skip (the gradient is left out), or "
      "roll_back (to the newest checkpoint, at most 3 times)")
      ->check(CLI::IsMember({"fail", "skip", "roll_back"}));
  add("connect-timeout", connect_timeout_s, "Seconds to wait for a task that cannot be reached")
      ->check(CLI::PositiveNumber);
}

// Those that are not as without flags: some of these values cannot be given.
std::vector<std::string> TrainFlags::arguments() const {
  const TrainFlags without;
  std::vector<std::string> arguments;
  const auto add = [&](const char* name, auto TrainFlags::*flag) {
    if (this->*flag != without.*flag) arguments.push_back(fmt::format("--{}={}", name, this->*flag));
  };
  if (hidden != without.hidden) arguments.push_back(fmt::format("--hidden={}", fmt::join(hidden, ",")));
  add("optimizer", &TrainFlags::optimizer);
  add("learning-rate", &TrainFlags::learning_rate);
  add("batch-size", &TrainFlags::batch_size);
  add("epochs", &TrainFlags::epochs);
  add("train-steps", &TrainFlags::train_steps);
  add("seed", &TrainFlags::seed);
  add("ps-strategy", &TrainFlags::ps_strategy);
  add("data", &TrainFlags::data);
  add("checkpoint-dir", &TrainFlags::checkpoint_folder);
  if (strict) arguments.emplace_back("--strict");
  add("save-checkpoint-secs", &TrainFlags::save_checkpoint_secs);
  add("save-checkpoint-steps", &TrainFlags::save_checkpoint_steps);
  add("summary-dir", &TrainFlags::summary_folder);
  add("save-summaries-steps", &TrainFlags::save_summaries_steps);
  add("report", &TrainFlags::report);
  add("replicas-to-aggregate", &TrainFlags::replicas_to_aggregate);
  add("staleness-bound", &TrainFlags::staleness_bound);
  add("precision", &TrainFlags::precision);
  add("not-finite", &TrainFlags::not_finite);
  add("connect-timeout", &TrainFlags::connect_timeout_s);
  return arguments;
}

TrainOptions TrainFlags::options(bool sync) const {
  TrainOptions options;
  options.hidden = hidden;
  check_usage([&] {
    const double rate = learning_rate > 0 ? learning_rate : default_learning_rate(optimizer);
    options.optimizer = make_optimizer(optimizer, rate);
    make_ps_strategy(ps_strategy, 1);
    options.ps_strategy = ps_strategy;
  });
  options.batch_size = batch_size;
  options.sync = sync;
  if (sync && staleness_bound >= 0)
    throw UsageError(
        "--staleness_bound is for asynchronous training; train asynchronously or leave it away");
  if (!sync && replicas_to_aggregate > 0)
    throw UsageError(
        "--replicas_to_aggregate is for synchronous training; train synchronously or leave it away");
  options.replicas_to_aggregate = replicas_to_aggregate;
  if (staleness_bound >= 0) options.staleness_bound = staleness_bound;
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

Mnist TrainFlags::load(TrainOptions& options, int workers) const {
  const std::string folder = data_folder(data);
  if (folder.empty())
    throw UsageError("the project's images are not beside the program; name their folder with --data");
  Mnist mnist = load_from(folder);
  options.train_steps =
      train_steps > 0 ? train_steps : steps_for_epochs(epochs, mnist.train.count(), options, workers);
  return mnist;
}

void check_checkpoint_folder(const TrainOptions& options) {
  if (options.checkpoint_folder.empty()) return;
  try {
    expect_checkpoint_folder(posix_storage(), options.checkpoint_folder);
  } catch (const Error& error) {
    if (error.code() == Code::disk_error) throw;  // it may pass
    throw UsageError(fmt::format("--checkpoint_dir: {}", error.what()));
  }
}

void publish(const TrainReport& report, const TrainFlags& flags) {
  if (flags.report != "-")
    fmt::print("test accuracy {:.2f} % after {} {}hronous steps in {:.1f} s; weights {:016x}\n",
               100 * report.test_accuracy, report.global_step, report.mode, report.train_seconds,
               report.weights_hash);
  if (!flags.report.empty()) write_report(flags.report, report);
}

}  // namespace actorflow
