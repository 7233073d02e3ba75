#include "apps/cli/train_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "actors/strategies/meeting.h"
#include "apps/cli/data_folder.h"
#include "apps/cli/flag_seconds.h"
#include "apps/cli/program.h"
#include "apps/cli/train_flag_table.h"
#include "apps/training/data/load_data.h"
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

// "" as it is.
std::string absolute(const std::string& folder) {
  return folder.empty() ? folder : std::filesystem::absolute(folder).lexically_normal().string();
}

[[noreturn]] void contradict(const std::string& a, const std::string& b) {
  throw UsageError(fmt::format("{} contradicts {}; omit one of them", a, b));
}

void expect_all_reduce(const TrainFlags& flags, const char* flag, const char* why) {
  if (flags.distribution != "multi_worker" && flags.distribution != "mirrored")
    throw UsageError(
        fmt::format("{} needs --strategy=multi_worker or --strategy=mirrored: {}", flag, why));
}

void check_local_steps(const TrainFlags& flags) {
  if (flags.local_steps > 1) {
    expect_all_reduce(flags, "--local_steps",
                      "with parameter servers --async or --staleness_bound let go");
    if (flags.sharded_optimizer) contradict("--local_steps", "--sharded_optimizer");
    if (flags.replicas_to_aggregate) contradict("--replicas_to_aggregate", "--local_steps");
  } else if (flags.outer_learning_rate || flags.outer_momentum) {
    throw UsageError(
        "--outer_learning_rate and --outer_momentum need --local_steps=N, the steps that workers make "
        "alone before they agree");
  }
}

// Flags that only workers without parameter servers understand.
void check_all_reduce(const TrainFlags& flags) {
  if (flags.sharded_optimizer)
    expect_all_reduce(flags, "--sharded_optimizer",
                      "parameter servers divide what the optimizer keeps by themselves");
  if (flags.compression != "none")
    expect_all_reduce(flags, "--compression", "gradients travel to parameter servers as they are");
  check_local_steps(flags);
  if (flags.sharded_optimizer && flags.replicas_to_aggregate)
    contradict("--replicas_to_aggregate", "--sharded_optimizer");
}

Strategy synchronous(const TrainFlags& flags) {
  if (flags.staleness_bound && flags.sync) contradict("--staleness_bound", "--sync_replicas (--sync)");
  if (flags.staleness_bound)
    throw UsageError("--staleness_bound needs --async: without it training is synchronous here");
  return Synchronous{.replicas_to_aggregate = flags.replicas_to_aggregate.value_or(0)};
}

Strategy asynchronous(const TrainFlags& flags) {
  if (flags.replicas_to_aggregate && flags.async) contradict("--replicas_to_aggregate", "--async");
  if (flags.replicas_to_aggregate)
    throw UsageError(
        "--replicas_to_aggregate needs --sync_replicas (--sync): without it training is asynchronous "
        "here");
  if (flags.staleness_bound) return BoundedStaleness{*flags.staleness_bound};
  return Asynchronous{};
}

}  // namespace

void TrainFlags::add_to(Command& command) { train_flag_table().add_to(command, *this); }

bool TrainFlags::has_workers_only() const {
  return !distribution.empty() && distribution != "parameter_server";
}

bool TrainFlags::wants_sync() const {
  return sync || ((sync_by_default || has_workers_only()) && !async);
}

void TrainFlags::place_variables(TrainOptions& options, const std::vector<std::string>& jobs) const {
  const auto has = [&jobs](const char* job) { return std::ranges::count(jobs, job) > 0; };
  const bool has_ps = has("ps");
  if (has_workers_only() && has_ps)
    throw UsageError(fmt::format(
        "--strategy={} has no parameter servers, but the cluster has a job 'ps'; omit one of them",
        distribution));
  if (distribution == "parameter_server" && !has_ps)
    throw UsageError("--strategy=parameter_server needs a job 'ps', but the cluster has none");
  if (has_ps) return;
  options.ps_job = has("worker") ? "worker" : "chief";
  if (options.strategy == Strategy(Synchronous{})) options.strategy = all_reduce();
}

AllReduce TrainFlags::all_reduce() const {
  AllReduce strategy{.sharded_optimizer = sharded_optimizer,
                     .compression = parse_compression(compression),
                     .local_steps = local_steps};
  if (outer_learning_rate) strategy.outer.learning_rate = *outer_learning_rate;
  if (outer_momentum) strategy.outer.momentum = *outer_momentum;
  return strategy;
}

std::vector<std::string> TrainFlags::arguments() const {
  TrainFlags said = *this;
  said.sync = wants_sync();  // trainer may have other defaults
  if (!model) said.model = default_model;
  if (!batch_size) said.batch_size = default_batch_size;
  if (!train_steps && !epochs) said.epochs = default_epochs;
  return train_flag_table().arguments(said);
}

Strategy TrainFlags::strategy() const {
  if (sync && async) contradict("--async", "--sync_replicas (--sync)");
  check_all_reduce(*this);
  if (has_workers_only() && async) contradict("--async", "--strategy=" + distribution);
  return wants_sync() ? synchronous(*this) : asynchronous(*this);
}

TrainOptions TrainFlags::options() const {
  if (epochs && train_steps) contradict("--epochs", "--train-steps");
  TrainOptions options;
  options.model = choice();
  check_usage([&] {
    const Recipe recipe = recipe_of(options.model);
    if (optimizer)
      options.optimizer =
          choice_of(*optimizer, learning_rate.value_or(default_learning_rate(*optimizer)));
    options.augmentation = recipe.augmentation;
    options.batch_size = batch_size.value_or(default_batch_size.value_or(recipe.batch_size));
    options.precision = precision ? parse_precision(*precision) : recipe.precision;
    device_in_task(device);  // throws for what is none
    options.device = device;
    if (ps_strategy) options.ps_strategy = *ps_strategy;
    make_ps_strategy(options.ps_strategy, 1);
  });
  options.strategy = strategy();
  if (not_finite == "skip") options.not_finite = NotFinite::skip;
  if (not_finite == "roll_back") {
    if (checkpoint_folder.empty())
      throw UsageError(
          "--not_finite=roll_back needs --checkpoint_dir, the folder with what to go back to");
    options.max_rollbacks = 3;
  }
  options.seed = seed.value_or(1);
  options.train_steps = train_steps.value_or(0);
  // Every task finds it by this path, wherever it was started.
  options.checkpoint_folder = absolute(checkpoint_folder);
  options.strict_restore = strict;
  options.summary_folder = absolute(summary_folder);
  options.plots_folder = absolute(plots);
  options.save_summaries = {.steps = save_summaries_steps};
  options.save_checkpoint = {save_checkpoint_steps,
                             save_checkpoint_steps > 0 ? 0 : save_checkpoint_secs};
  options.connect_timeout_ms = milliseconds_of(connect_timeout_s);
  return options;
}

LabelledData TrainFlags::load(TrainOptions& options, int workers) const {
  const std::string path = data_path(data);
  if (path.empty())
    throw UsageError("the project's data are not beside the program; name a folder with --data");
  std::int64_t block = 0;
  check_usage([&] { block = block_of(options.model); });
  LabelledData loaded = load_data_of_flags(path, "--data or --data_dir", block);
  if (options.batch_size > loaded.train_count)
    throw UsageError(fmt::format("--batch-size is {}, but there are {} {} to train on",
                                 options.batch_size, loaded.train_count, loaded.noun));
  if (is_synchronous(options.strategy) && options.batch_size * workers > loaded.train_count)
    throw UsageError(fmt::format(
        "--batch-size is {}, so a step of {} synchronous workers takes {} {}, but there are {} to train "
        "on; give a batch of at most {}, or fewer workers",
        options.batch_size, workers, workers * options.batch_size, loaded.noun, loaded.train_count,
        loaded.train_count / workers));
  check_usage([&] { architecture_of(options.model, loaded.types); });
  follow_recipe(options, loaded, workers);
  return loaded;
}

ReplicaSettings TrainFlags::given(const TrainOptions& options, bool loaded) const {
  ReplicaSettings given;
  const auto add = [&given](bool is_given, const ReplicaSettings& from, const char* name) {
    if (is_given) given.push_back(*std::ranges::find(from, name, &ReplicaSettings::value_type::first));
  };
  const ReplicaSettings program = settings_of_options(options), replica = settings_of(options);
  add(model || !settings.empty() || !hidden.empty(), program, "model");
  add(batch_size.has_value(), program, "batch_size");
  add(precision.has_value(), program, "precision");
  add(seed.has_value(), program, "seed");
  add(sync || async || replicas_to_aggregate || staleness_bound, replica, "strategy");
  add(train_steps || (epochs && loaded), replica, "train_steps");
  add(not_finite.has_value(), replica, "not_finite");
  add(ps_strategy.has_value(), replica, "ps_strategy");
  // One that chooses by the variable is known with the model's variables only.
  const auto& of_all = options.optimizer.of_all();
  if (of_all && (optimizer || (learning_rate && loaded)))
    given.emplace_back("optimizer", describe_optimizer(*of_all));
  return given;
}

void TrainFlags::follow_recipe(TrainOptions& options, const LabelledData& loaded, int workers) const {
  const Recipe recipe = recipe_of(options.model);
  const auto of_epochs = [&](double passes) {
    return steps_for_epochs(passes, loaded.train_count, options, workers);
  };
  options.train_steps = train_steps                ? *train_steps
                        : epochs                   ? of_epochs(*epochs)
                        : default_epochs           ? of_epochs(*default_epochs)
                        : recipe.steps.has_value() ? *recipe.steps
                                                   : of_epochs(recipe.epochs);
  const CompileOptions compile =
      recipe.compile(learning_rate.value_or(recipe.learning_rate), options.train_steps);
  options.loss = compile.loss.list().front();
  options.clip_global_norm = compile.clip_global_norm;
  if (optimizer) return;
  options.optimizer = compile.optimizer;
  options.learning_rate = compile.learning_rate;
}

ModelChoice TrainFlags::choice() const {
  ModelChoice choice{model.value_or(default_model.value_or("mlp")), {}};
  check_usage([&] { choice.settings = parse_settings(settings); });
  if (!hidden.empty()) {
    if (choice.name != "mlp")
      throw UsageError(fmt::format("--hidden is for --model=mlp, but the model is {}; omit one of them",
                                   choice.name));
    if (!choice.settings.emplace("hidden", fmt::format("{}", fmt::join(hidden, ","))).second)
      throw UsageError("--hidden and --set hidden=... say the same; omit one of them");
  }
  return completed(std::move(choice));
}

}  // namespace actorflow
