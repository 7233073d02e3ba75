#include "actors/models/fit/cluster_fit.h"

#include <spdlog/spdlog.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "actors/checkpoint/newest_whole.h"
#include "actors/layers/checks.h"
#include "actors/models/data/class_weight.h"
#include "actors/models/fit/fit_settings.h"
#include "actors/models/fit/pipeline_plan.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/first_decides.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

BatchesOptions shape_of(const FitOptions& options, const ReplicaOptions& replica, const TaskConfig& task,
                        std::int64_t parts, std::uint64_t seed, bool elastic) {
  const int replicas = task.num_replicas();
  BatchesOptions shape = batches_of(options, seed);
  if (!is_synchronous(replica.strategy)) {
    shape.stride = replicas;
    return shape;
  }
  // The batch was chosen for another number of tasks: they may have unequal parts of it.
  if (!elastic || parts > 1) expect_divisible(options.batch_size, replicas, parts);
  if (options.auto_shard_policy == AutoShardPolicy::off) {
    shape.batch_size /= replicas;
    shape.parts = parts;
    shape.may_be_few = true;  // it joins
    return shape;
  }
  shape.shards = replicas;
  shape.shard = task.replica;
  shape.parts = parts;
  return shape;
}

const TaskConfig& expect_all_replicas(const TaskConfig& task, const ReplicaOptions& options) {
  const auto* sync = std::get_if<Synchronous>(&options.strategy);
  if (sync && sync->replicas_to_aggregate != 0 && sync->replicas_to_aggregate != task.num_replicas())
    throw invalid_argument(
        "fit: a synchronous step takes the gradients of all replicas, which divide its batch; leave out "
        "replicas_to_aggregate");
  return task;
}

std::optional<SizesOfReplicas> sizes_of_own_data(Server& server, const TaskConfig& task, FitData& data,
                                                 const FitOptions& options,
                                                 const ReplicaOptions& replica) {
  if (options.auto_shard_policy == AutoShardPolicy::off)
    return exchange_sizes(server, task.replicas,
                          {data.training.count_steps(), data.training.examples_of_epoch()}, replica,
                          options.epochs);
  if (is_all_reduce(replica.strategy)) announce_shared_data(server);
  return std::nullopt;
}

// Functions of layers and losses are called by one thread at a time.
std::mutex& building() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

ClusterFit::ClusterFit(Model& model, ModelEngine& engine, Server& server, const TrainingData& data,
                       const FitOptions& options, ReplicaOptions replica_options,
                       const PipelineOptions* pipeline, ElasticFit* elastic)
    : engine_(engine),
      server_(server),
      elastic_(elastic),
      source_(data),
      options_(options),
      replica_options_(std::move(replica_options)),
      pipeline_(pipeline ? std::optional(*pipeline) : std::nullopt),
      micro_batches_(micro_batches_of(options, replica_options_.strategy, pipeline)),
      task_(expect_all_replicas(replica_config(server, replica_options_), replica_options_)),
      example_(first_example(data.elements(), server.runtime())),
      types_(engine.divided(types_of(example_))),
      data_(server, data, options,
            shape_of(options, replica_options_, task_, micro_batches_ ? micro_batches_->count : 1,
                     engine.compiled().seed, elastic != nullptr)),
      own_data_(sizes_of_own_data(server, task_, data_, options, replica_options_)),
      ends_of_data_(own_data_ ? "its own" : describe_examples(data, server.runtime())),
      steps_per_epoch_(own_data_ ? own_data_->steps_of_epoch() : data_.training.count_steps()),
      training_(model, *server.runtime(), {.epoch = options.initial_epoch + 1}, options.epochs),
      callbacks_(options.callbacks, engine.compiled().metrics, training_) {
  replica_options_.train_steps = options.epochs * steps_per_epoch_;
  training_.set_measured(names_measured(options, engine.compiled().metrics));
  training_.set_sums_of_epoch([this] { return sums_so_far(); });
  example_ = batch_of_one(std::move(example_));
  if (const auto weigh = weighting(options.class_weight)) example_ = weigh(std::move(example_));
  if (pipeline_) choose_stages();
}

// All replicas cut alike, also one that comes back: they compare it with their settings.
void ClusterFit::choose_stages() {
  if (pipeline_->cut_before.empty() && pipeline_->stages > 1)
    pipeline_->cut_before =
        decided_by_first(server_, task_.replicas, "cut of the pipeline", replica_options_, [this] {
          const std::int64_t rows = options_.batch_size / task_.num_replicas() / micro_batches_->count;
          return choose_cut(*pipeline_, engine_, types_, example_, rows, server_.runtime(), building());
        });
  if (!task_.is_chief()) return;
  const std::lock_guard lock(building());
  engine_.stages = describe(stages(), engine_.architecture);
}

std::vector<ModelStage> ClusterFit::stages() const {
  if (!pipeline_) return {};
  const auto tasks = TaskConfig::make(server_.cluster(), server_.name()).replicas;
  return stages_on(tasks, task_.replica, *pipeline_, engine_.architecture,
                   engine_.types_of_inputs(types_.inputs));
}

ReplicaNodes ClusterFit::build(Graph& graph, const Replication& replication) {
  const std::lock_guard lock(building());
  const auto& compile = engine_.compiled();
  nodes_.emplace(graph, engine_.architecture, engine_.types_of_inputs(types_.inputs), &compile,
                 engine_.wanted_rate, stages());
  nodes_->add_testing(compile, types_.labels);
  step_nodes_ = nodes_->add_training(compile, replication,
                                     {.micro_batches = micro_batches_,
                                      .weighted = !options_.class_weight.empty(),
                                      .own_data = own_data_.has_value()});
  variable_names_.clear();
  for (const Variable& variable : nodes_->variables.all()) variable_names_.push_back(variable.name());
  if (task_.is_chief()) {
    in_session_.emplace(*nodes_, *server_.runtime());
    epoch_sums_.emplace(graph, nodes_->epoch_sums);
    steps_fed_ = graph.placeholder(DType::int64, {});
    first_step_fed_ = graph.placeholder(DType::int64, {});
    begin_at_ = {graph.assign(nodes_->global_step, steps_fed_),
                 graph.assign(nodes_->first_step, first_step_fed_)};
  }
  auto fetches = fetches_of(step_nodes_.measured);
  if (task_.is_chief() && callbacks_.look_at_batches())
    fetches.push_back(nodes_->reduced_row() ? nodes_->reduced_row() : nodes_->epoch_sums.value());
  return {.train = step_nodes_.op,
          .loss = step_nodes_.measured.loss,
          .fetches = std::move(fetches),
          .targets = step_nodes_.updates,
          .first_step = nodes_->first_step.value()};
}

ReplicaSettings ClusterFit::settings() const {
  ReplicaSettings settings = settings_of_model(*nodes_, engine_.compiled());
  const ReplicaSettings of_program =
      settings_of_program(options_, engine_.architecture, engine_.compiled());
  settings.insert(settings.end(), of_program.begin(), of_program.end());
  settings.insert(settings.end(),
                  {{"steps of an epoch", std::to_string(steps_per_epoch_)},
                   {"examples of each replica", own_data_ ? own_data_->describe() : "the same"},
                   {"first and last example", ends_of_data_},
                   {"pipeline", describe(pipeline_, micro_batches_)}});
  return settings;
}

void ClusterFit::prepare(MonitoredOptions& options) {
  if (!task_.is_chief()) return;
  options.init_fn = [this](Session& session) { initialise(session); };
  options.save_extra = [this] { return state_of_callbacks(); };
  options.restore_extra = [this](ExtraState saved) { restored_ = std::move(saved); };
}

// Where there is no checkpoint: the model goes on as it is, with the batches of the first epoch.
void ClusterFit::initialise(Session& session) {
  use(session);
  if (engine_.local) {
    in_session_->set_weights(engine_.local->in_session.weights());
    in_session_->set_state(engine_.local->in_session.state());
  } else {
    if (!engine_.kept_weights.empty()) in_session_->set_weights(engine_.kept_weights);
    if (engine_.kept_state) in_session_->set_state(*engine_.kept_state);
  }
  const FitProgress& first = training_.first();
  session.run(std::vector<Output>{},
              {{steps_fed_, Tensor::scalar(model_steps_)},
               {first_step_fed_, Tensor::scalar(model_steps_ - first_place())}},
              begin_at_);
  in_session_->take_changed();
  if (epoch_.line && !training_.stopped()) callbacks_.begin_anew();
  restored_.reset();
  epoch_.sums.reset();
  epoch_.told = first.epoch - 1;
  initialised_ = true;
  epoch_.began_within = first.batches > 0 ? first.epoch : 0;
}

// Where each replica has the variables, weights that a callback has set are the chief's only, until all
// begin anew with them, as after a loss.
void ClusterFit::hand_out_changes(std::int64_t place) {
  weights_set_ = in_session_->take_changed();
  if (!weights_set_ || !is_all_reduce(replica_options_.strategy)) return;
  if (!training_.stopped() && place < replica_options_.train_steps)
    throw Error(Code::aborted, "a callback has given the model other weights");
}

void ClusterFit::use(Session& session) {
  in_session_->use(session, false);
  engine_.of_cluster = &*in_session_;
}

bool ClusterFit::before_step(Session& session) {
  if (!task_.is_chief()) return true;
  if (epoch_.begins && !is_stopped()) {
    use(session);
    begin_epoch();
    hand_out_changes(place_);
  }
  return !is_stopped();
}

bool ClusterFit::after_step(Session& session, std::int64_t global_step, std::span<const Tensor> values) {
  place_ = global_step - first_step_.value();
  if (!task_.is_chief()) return true;
  use(session);
  may_end_ = true;
  const auto own = values.first(1 + engine_.compiled().metrics.size());
  epoch_.last_values.assign(own.begin(), own.end());
  epoch_.line->step();
  engine_.progress.batches = place_ - (engine_.progress.epoch - 1) * steps_per_epoch_;
  if (is_sync() && !is_all_reduce(replica_options_.strategy) &&
      engine_.progress.batches == steps_per_epoch_ - 1)
    epoch_sums_->forget_late(session, engine_.progress.epoch);
  if (callbacks_.look_at_batches()) tell_callbacks(own, values.back());
  // An epoch is whole, too, whose last batch has stopped training.
  for (bool goes_on = true; goes_on && is_over(engine_.progress.epoch, place_);
       goes_on = !training_.stopped())
    end_epoch();
  hand_out_changes(place_);
  return !training_.stopped();
}

bool ClusterFit::before_last_save(Session& session) {
  use(session);
  if (training_.stopped()) end_part_of_epoch();
  callbacks_.on_train_end();
  // A checkpoint of the last step that was saved before does not know that a callback stopped training.
  return in_session_->take_changed() || weights_set_ ||
         (replica_options_.mark_end && training_.asked_to_stop());
}

void ClusterFit::on_interrupt(Session& session) {
  training_.interrupt();
  use(session);
  end_part_of_epoch();
  callbacks_.on_train_end();
  adopt(session);
}

void ClusterFit::adopt(Session& session) {
  use(session);
  if (is_all_reduce(replica_options_.strategy)) {  // nobody else changes the chief's own variables
    steps_ = engine_.steps();
    engine_.adopt(types_.inputs, in_session_->weights(), state_at_end());
  } else {
    ModelSession::OneStep end = in_session_->of_one_step();
    steps_ = end.step;
    engine_.adopt(types_.inputs, std::move(end.weights), std::move(end.state));
  }
  has_weights_ = true;
}

// Of a divided optimizer other tasks have a part: one that was lost when all was done costs that alone.
std::optional<TrainedState> ClusterFit::state_at_end() {
  try {
    return in_session_->state();
  } catch (const Error& error) {
    if (!is_preemption(error.code())) throw;
    spdlog::warn("{}: a later fit() begins with new optimizer slots: {}", server_.name().to_string(),
                 error.what());
    return std::nullopt;
  }
}

ReplicaEnd ClusterFit::run() {
  static const std::atomic<bool> never{false};
  if (elastic_) history_ = std::move(elastic_->history);
  if (task_.is_chief()) {
    engine_.learned_inputs = types_.inputs;
    if (!elastic_ || !std::exchange(elastic_->has_begun, true)) begin_callbacks();
    model_steps_ = engine_.steps();
  }
  struct Restore {
    ModelEngine* engine;
    ~Restore() {
      if (engine) engine->of_cluster = nullptr;
    }
  };
  const Restore restore{task_.is_chief() ? &engine_ : nullptr};
  const auto& interrupted = options_.interrupted ? *options_.interrupted : never;
  const ReplicaEnd end = [&] {
    try {
      return run_replica(server_, *this, replica_options_, interrupted,
                         elastic_ ? &elastic_->task : nullptr);
    } catch (const Error& error) {
      throw blamed(error);
    }
  }();
  if (task_.is_chief() && end == ReplicaEnd::left) adopt_saved();
  if (!task_.is_chief() && first_step_) steps_ = *first_step_ + place_;
  if (elastic_) {
    elastic_->history = std::move(history_);
    elastic_->steps = steps_;
    elastic_->has_weights = has_weights_;
  }
  return end;
}

// Training was complete before this chief came back: what it has learned is in the last checkpoint.
void ClusterFit::adopt_saved() {
  if (replica_options_.checkpoint_folder.empty()) return;
  Runtime& runtime = *server_.runtime();
  const auto saved = load_newest_whole_checkpoint(runtime.storage(), replica_options_.checkpoint_folder,
                                                  [&runtime](auto pause) { runtime.sleep(pause); });
  if (!saved) return;
  std::map<std::string, Tensor> weights;
  for (const std::string& name : variable_names_) weights[name] = saved->tensors.at(name);
  engine_.adopt(types_.inputs, std::move(weights), std::nullopt);
  steps_ = saved->global_step;
  has_weights_ = true;
}

}  // namespace actorflow
