#include "actors/ensembles/ensemble.h"

#include <fmt/format.h>

#include <numeric>

#include "actors/ensembles/ensemble_state.h"
#include "actors/ensembles/train_member.h"
#include "actors/jobs/job.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

void expect_same_data(const EnsemblePlan& plan, const std::vector<MemberRecord>& records) {
  for (const MemberRecord& record : records)
    if (record.data_hash != plan.data_hash)
      throw Error(Code::failed_precondition,
                  fmt::format("member {} has learned other examples, or on other frozen layers, than "
                              "this task has: all tasks of an ensemble read the same data, and make the "
                              "same models",
                              record.work.member));
}

// The task in the log, by its place in the cluster; "" of a task alone.
std::string task_in_log(const JobEngine& engine) {
  const auto trainers = engine.trainers();
  if (!engine.has_others() || trainers.own < 0) return "";
  return fmt::format(" on task {}", trainers.tasks[static_cast<std::size_t>(trainers.own)]);
}

// The type of one example that the models take: as they say, or else as the examples were that they have
// learned.
TensorType type_of_input(const EnsembleState& state, std::size_t input) {
  const TensorType& declared = state.networks[0].architecture.inputs[input].def().type;
  const Tensor& example = state.example[input];
  return declared.dtype == DType::invalid ? TensorType{example.dtype(), example.shape()} : declared;
}

void expect_inputs(const EnsembleState& state, const Tuple& x) {
  if (x.size() != state.inputs())
    throw invalid_argument(fmt::format("expected a tensor for each of the models' {} inputs, got {}",
                                       state.inputs(), x.size()));
  const auto types = row_types(x);
  for (std::size_t i = 0; i < types.size(); ++i) {
    const TensorType expected = type_of_input(state, i);
    if (expected.dtype != types[i].dtype || !expected.shape.compatible_with(types[i].shape))
      throw invalid_argument(fmt::format("input {}: the models take {} for each example, got {}", i,
                                         expected.to_string(), types[i].to_string()));
  }
}

Predictions predictions_of(const EnsembleState& state, const Tuple& x, Job& job) {
  state.expect_trained();
  expect_inputs(state, x);
  Predictions predictions;
  const auto members = state.members();
  for (const int member : members) predictions.weights.push_back(state.weight_of(member));
  predictions.outputs = predict_by_members(job, members, [&state, x](int member) {
    return predict_by(state.networks[static_cast<std::size_t>(member)], state.weights.at(member), x);
  });
  return predictions;
}

// The scores of a stacking ensemble, [n, outputs].
Tensor scores_of(const EnsembleState& state, const Predictions& predictions, const Tuple& x) {
  std::vector<Tensor> answers;
  for (const Tensor& output : predictions.outputs)
    answers.push_back(stacked_answers(state.vote, output));
  return (*state.regression)(stacked_features(state.options, std::move(answers), x));
}

Tensor probabilities(const EnsembleState& state, const Predictions& predictions, const Tuple& x) {
  return state.regression ? probabilities_of(scores_of(state, predictions, x)) : soft_vote(predictions);
}

Tensor numbers_of(const EnsembleState& state, const Predictions& predictions, const Tuple& x) {
  if (!state.regression) return mean_of(predictions);
  return scores_of(state, predictions, x).reshaped(predictions.outputs[0].shape());
}

Tensor answer(const EnsembleState& state, const Predictions& predictions, const Tuple& x) {
  if (state.has_numbers()) return numbers_of(state, predictions, x);
  if (state.vote == Vote::hard) return hard_vote(predictions);
  return largest(probabilities(state, predictions, x));
}

// A job that runs in this process only.
Job own_job() { return Job(JobOptions{}); }

}  // namespace

double EnsembleScore::gain() const {
  const double mean =
      std::accumulate(members.begin(), members.end(), 0.0) / static_cast<double>(members.size());
  return metric == "mean_squared_error" ? mean - ensemble : ensemble - mean;
}

std::vector<int> EnsembleState::members() const {
  std::vector<int> numbers;
  for (const auto& [member, tensors] : weights) numbers.push_back(member);
  return numbers;
}

void EnsembleState::expect_trained() const {
  if (weights.empty())
    throw Error(Code::failed_precondition,
                "the ensemble has no members yet: call fit() or load() first");
}

Ensemble::Ensemble(std::vector<std::reference_wrapper<const Model>> models,
                   const EnsembleOptions& options)
    : state_(std::make_unique<EnsembleState>()) {
  state_->options = options;
  state_->networks = networks_of(models, state_->options);
  state_->vote = vote_of(state_->networks, options);
}
Ensemble::Ensemble(Ensemble&&) noexcept = default;
Ensemble& Ensemble::operator=(Ensemble&&) noexcept = default;
Ensemble::~Ensemble() = default;

void Ensemble::fit(const TrainingData& data, const FitOptions& options) {
  Job job = own_job();
  fit(data, options, job);
}

void Ensemble::fit(const TrainingData& data, const FitOptions& options, Job& job) {
  EnsemblePlan checked = plan_ensemble(state_->networks, state_->options, state_->vote, data, options);
  const JobEngine& engine = job.state()->engine();
  checked.stopped = engine.tools().stopped;
  if (options.verbosity != Verbosity::silent)
    checked.log = std::make_shared<MemberLog>(task_in_log(engine));
  const auto plan = std::make_shared<const EnsemblePlan>(std::move(checked));
  const auto records = train_members(
      job, plan->work(), [plan](const MemberWork& work) { return train_member(*plan, work); });
  expect_same_data(*plan, records);
  state_->weights.clear();
  state_->histories.clear();
  for (const MemberRecord& record : records) {
    if (record.work.fold >= 0) continue;
    state_->weights[static_cast<int>(record.work.member)] = weights_of(record);
    state_->histories.push_back(history_of(record));
  }
  const bool bagging = plan->options.method == EnsembleMethod::bagging;
  state_->oob_score = bagging ? out_of_bag_score(*plan, records) : std::nullopt;
  state_->example.clear();
  for (const TensorType& input : row_types(plan->x()))
    state_->example.push_back(Tensor::zeros(input.dtype, input.shape));
  state_->regression.reset();
  if (state_->is_stacking()) state_->regression = fit_stacking(*plan, records);
}

Tensor Ensemble::predict(const Tensor& x) { return predict(Tuple{x}); }
Tensor Ensemble::predict(const Tensor& x, Job& job) { return predict(Tuple{x}, job); }

Tensor Ensemble::predict(const std::vector<Tensor>& inputs) {
  Job job = own_job();
  return predict(inputs, job);
}

Tensor Ensemble::predict(const std::vector<Tensor>& inputs, Job& job) {
  return answer(*state_, predictions_of(*state_, inputs, job), inputs);
}

Tensor Ensemble::predict_proba(const Tensor& x) { return predict_proba(Tuple{x}); }
Tensor Ensemble::predict_proba(const Tensor& x, Job& job) { return predict_proba(Tuple{x}, job); }

Tensor Ensemble::predict_proba(const std::vector<Tensor>& inputs) {
  Job job = own_job();
  return predict_proba(inputs, job);
}

Tensor Ensemble::predict_proba(const std::vector<Tensor>& inputs, Job& job) {
  if (state_->vote != Vote::soft)
    throw invalid_argument(state_->vote == Vote::hard
                               ? "a hard vote has no probabilities: ask predict(), or vote softly"
                               : "numbers have no probabilities: ask predict()");
  return probabilities(*state_, predictions_of(*state_, inputs, job), inputs);
}

EnsembleScore Ensemble::evaluate(const TrainingData& data) {
  Job job = own_job();
  return evaluate(data, job);
}

EnsembleScore Ensemble::evaluate(const TrainingData& data, Job& job) {
  const Tuple examples = read_all(data.elements(), {.storage = &posix_storage()});
  if (examples.size() <= state_->inputs())
    throw invalid_argument(
        fmt::format("evaluate: expected examples of {} for inputs and a label, got {} tensors",
                    state_->inputs(), examples.size()));
  const Tuple x = inputs_of(examples, state_->inputs());
  const Tensor& y = examples[x.size()];
  const bool numbers = state_->has_numbers();
  const auto labels = numbers ? std::vector<std::int64_t>{} : class_numbers(y);
  const auto score = [&](const Tensor& said) {
    return numbers ? mean_squared_error_of(said, y) : accuracy_of(said, labels);
  };
  const Predictions predictions = predictions_of(*state_, x, job);
  EnsembleScore scores{numbers ? "mean_squared_error" : "accuracy"};
  for (const Tensor& output : predictions.outputs)
    scores.members.push_back(score(numbers ? output : largest(probabilities_of(output))));
  scores.predicted = answer(*state_, predictions, x);
  scores.ensemble = score(scores.predicted);
  return scores;
}

std::optional<double> Ensemble::oob_score() const { return state_->oob_score; }
const std::vector<History>& Ensemble::histories() const { return state_->histories; }
Vote Ensemble::vote() const { return state_->vote; }
std::vector<int> Ensemble::members() const { return state_->members(); }

const std::map<std::string, Tensor>& Ensemble::weights(int member) const {
  const auto found = state_->weights.find(member);
  if (found == state_->weights.end())
    throw Error(Code::not_found, fmt::format("the ensemble has no member {}", member));
  return found->second;
}

Ensemble ensemble(const Model& model, const EnsembleOptions& options) {
  return Ensemble({std::cref(model)}, options);
}

Ensemble ensemble(std::initializer_list<std::reference_wrapper<const Model>> models,
                  const EnsembleOptions& options) {
  return Ensemble({models.begin(), models.end()}, options);
}

}  // namespace actorflow
