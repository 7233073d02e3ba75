#include "actors/models/model_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "actors/monitored/storage_error.h"
#include "dataflow/cluster/device_name.h"
#include "dataflow/ops/checkpoint_ops.h"
#include "dataflow/train/replicated_state.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Where what a saver keeps of the variable is: on the host of its task.
std::string task_of(const Variable& variable) {
  return task_part(DeviceName::parse(variable.device())).to_string();
}

}  // namespace

ModelSession::ModelSession(ModelGraph& nodes, Runtime& runtime)
    : nodes_(nodes), runtime_(runtime), saver_(nodes.graph, nodes.saved_variables(), nodes.global_step) {
  for (const Variable& variable : nodes.variables.all()) weights_.push_back(assignment_of(variable));
  rate_ = assignment_of(nodes.learning_rate);
  step_ = assignment_of(nodes.global_step);
  progress_ = assignment_of(nodes.progress);
  add_states();
  add_kept();
}

ModelSession::Assignment ModelSession::assignment_of(const Variable& variable) const {
  Graph& graph = nodes_.graph;
  const Output value = graph.on(variable.device(), [&] {
    return graph.placeholder(variable.type().dtype, variable.type().shape);
  });
  return {value, graph.assign(variable, value)};
}

// Each variable by itself: elsewhere they are on other tasks.
void ModelSession::add_states() {
  Graph& graph = nodes_.graph;
  for (const Variable& variable : nodes_.variables.trained())
    graph.on(variable.device(), [&] {
      read_states_.push_back(read_state(graph, {variable}));
      const Output bytes = graph.placeholder(DType::uint8, {Shape::unknown});
      states_.push_back({bytes, assign_state(bytes, {variable})});
    });
}

void ModelSession::add_kept() {
  Graph& graph = nodes_.graph;
  const Output folder = graph.constant(Tensor::scalar<std::string>(Saver::kept_to_read));
  for (const Variable& variable : nodes_.variables.all())
    graph.on(task_of(variable), [&] {
      kept_.push_back(graph.add(take_from_snapshot_op(), {folder},
                                {{"name", variable.name()},
                                 {"dtype", variable.type().dtype},
                                 {"shape", variable.type().shape}}));
    });
}

void ModelSession::use(Session& session, bool for_good) {
  if (session_ != &session) {
    test_.reset();
    predict_.reset();
  }
  session_ = &session;
  for_good_ = for_good;
}

void ModelSession::assign(const Assignment& assignment, Tensor value) {
  session_->run(std::vector<Output>{}, {{assignment.value, std::move(value)}}, {assignment.assign});
}

std::map<std::string, Tensor> ModelSession::weights() {
  const auto variables = nodes_.variables.all();
  const auto values = session_->run({variables.begin(), variables.end()});
  std::map<std::string, Tensor> weights;
  for (std::size_t i = 0; i < values.size(); ++i) weights[variables[i].name()] = values[i];
  return weights;
}

void ModelSession::set_weights(const std::map<std::string, Tensor>& values) {
  const auto variables = nodes_.variables.all();
  std::string differences;
  Feeds feeds;
  std::vector<Output> targets;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const TensorType& type = variables[i].type();
    const auto found = values.find(variables[i].name());
    if (found == values.end())
      differences += fmt::format("\n  '{}' is missing", variables[i].name());
    else if (found->second.dtype() != type.dtype || !type.shape.compatible_with(found->second.shape()))
      differences += fmt::format("\n  '{}' is {}, got {}", variables[i].name(), type.to_string(),
                                 found->second.describe());
    else
      feeds.emplace_back(weights_[i].value, found->second);
    targets.push_back(weights_[i].assign);
  }
  for (const auto& [name, value] : values)
    if (std::ranges::find(variables, name, &Variable::name) == variables.end())
      differences += fmt::format("\n  the model has no '{}'", name);
  if (!differences.empty()) throw invalid_argument("these weights are not the model's:" + differences);
  session_->run(std::vector<Output>{}, feeds, targets);
  changed_ = true;
}

TrainedState ModelSession::state() {
  auto fetches = read_states_;
  fetches.push_back(nodes_.learning_rate);
  const auto values = session_->run(fetches);
  TrainedState state;
  if (nodes_.has_one_rate()) state.learning_rate = values.back().scalar<double>();
  const auto variables = nodes_.variables.trained();
  for (std::size_t i = 0; i < variables.size(); ++i) state.variables[variables[i].name()] = values[i];
  return state;
}

ModelSession::OneStep ModelSession::of_one_step() {
  OneStep all{.weights = {}, .state = {}, .step = saver_.keep_to_read(*session_)};
  std::vector<Output> fetches;
  for (const Output& kept : kept_) fetches.insert(fetches.end(), {kept.output(0), kept.output(1)});
  fetches.push_back(nodes_.learning_rate);
  const auto values = session_->run(fetches);
  if (nodes_.has_one_rate()) all.state.learning_rate = values.back().scalar<double>();
  const auto variables = nodes_.variables.all(), trained = nodes_.variables.trained();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const std::string& name = variables[i].name();
    all.weights[name] = values[2 * i];
    if (std::ranges::find(trained, name, &Variable::name) != trained.end())
      all.state.variables[name] = values[2 * i + 1];
  }
  return all;
}

void ModelSession::set_state(const TrainedState& state) {
  Feeds feeds;
  std::vector<Output> targets;
  if (state.learning_rate) {
    feeds.emplace_back(rate_.value, Tensor::scalar(*state.learning_rate));
    targets.push_back(rate_.assign);
  }
  const auto variables = nodes_.variables.trained();
  for (std::size_t i = 0; i < variables.size(); ++i) {
    feeds.emplace_back(states_[i].value, state.variables.at(variables[i].name()));
    targets.push_back(states_[i].assign);
  }
  session_->run(std::vector<Output>{}, feeds, targets);
}

void ModelSession::set_learning_rate(double rate) {
  nodes_.expect_one_rate();
  assign(rate_, Tensor::scalar(rate));
}
void ModelSession::set_global_step(std::int64_t step) { assign(step_, Tensor::scalar(step)); }

// A session of a cluster may be replaced after each step: then a callable would be planned for one use.
std::vector<Tensor> ModelSession::run(std::optional<Callable>& callable,
                                      const std::vector<Output>& fetches,
                                      const std::vector<Output>& placeholders, Tuple values) {
  if (for_good_) {
    if (!callable) callable.emplace(session_->make_callable(fetches, placeholders));
    return callable->run(std::move(values));
  }
  Feeds feeds;
  for (std::size_t i = 0; i < placeholders.size(); ++i) feeds.emplace_back(placeholders[i], values[i]);
  return session_->run(fetches, feeds);
}

std::vector<Tensor> ModelSession::test(Tuple batch) {
  return run(test_, fetches_of(nodes_.test), nodes_.test_feeds(), std::move(batch));
}

std::vector<Tensor> ModelSession::predict(Tuple inputs) {
  return run(predict_, nodes_.predictions, nodes_.inputs, std::move(inputs));
}

void ModelSession::save(const std::string& folder, const FitProgress& progress, const KeepOptions& keep,
                        const ExtraState& extra) {
  assign(progress_, Tensor::of<std::int64_t>({2}, {progress.epoch, progress.batches}));
  saver_.save(*session_, storage(), folder, keep, extra);
}

std::optional<FitProgress> ModelSession::load(const std::string& folder, ExtraState* extra) {
  changed_ = true;
  const auto step = restore_newest(runtime_, folder, [&](bool strict) {
    return saver_.restore(*session_, storage(), folder, strict, extra);
  });
  if (!step) return std::nullopt;
  const Tensor saved = session_->run(nodes_.progress);
  return FitProgress{.epoch = static_cast<int>(saved.values<std::int64_t>()[0]),
                     .batches = saved.values<std::int64_t>()[1]};
}

}  // namespace actorflow
