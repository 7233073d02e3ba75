#include "actors/ensembles/train_member.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <memory>
#include <numbers>

#include "actors/models/fit/callbacks.h"
#include "actors/models/fit/fit_data.h"
#include "actors/runtime/threaded_runtime.h"
#include "actors/task/server.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

constexpr std::int64_t rows_at_a_time = 256;

// A model waits for the actors of its session, which a part of a job may not do: so it has a thread and
// a runtime of its own.
template <class Function>
auto on_own_thread(Function function) {
  return std::async(std::launch::async, std::move(function)).get();
}

std::shared_ptr<Runtime> one_thread(const MemberNetwork& network) {
  return std::make_shared<ThreadedRuntime>(
      RuntimeOptions{.num_threads = 1, .extensions = network.options.extensions});
}

Model make_model(const MemberNetwork& network, std::shared_ptr<Runtime> runtime) {
  Model model(network.architecture, std::move(runtime));
  model.compile(network.options);
  return model;
}

// The same, about to learn from the plan's examples.
Model make_learner(const EnsemblePlan& plan, const MemberNetwork& network,
                   std::shared_ptr<Runtime> runtime) {
  Model model = make_model(network, std::move(runtime));
  if (network.frozen_weights.empty()) return model;
  model.build(row_types(plan.x()));
  auto weights = model.weights();
  for (const auto& [name, tensor] : network.frozen_weights) weights[name] = tensor;
  model.set_weights(weights);
  return model;
}

std::vector<StoredTensor> stored_weights(Model& model) {
  std::vector<StoredTensor> stored;
  for (const auto& [name, tensor] : model.weights()) stored.push_back(stored_tensor(name, tensor));
  return stored;
}

TrainingData data_of(const EnsemblePlan& plan, const MemberNetwork& network, const Tuple& examples) {
  if (plan.options.training_data) return plan.options.training_data(examples, network.options.seed);
  const Tuple x = inputs_of(examples, plan.inputs());
  return {x, {examples.begin() + std::ssize(x), examples.end()}};
}

// The schedule of these data's steps: other members, and folds, may make fewer.
LearningRateSchedule schedule_of(const EnsemblePlan& plan, const TrainingData& data,
                                 const std::shared_ptr<Runtime>& runtime) {
  const std::int64_t epochs = plan.fit.epochs - plan.fit.initial_epoch;
  const std::int64_t steps = epochs * steps_of_epoch(Server::local(runtime), data, plan.fit);
  return plan.options.learning_rate(std::max<std::int64_t>(1, steps));
}

// Trains the model, which `what` names in the log. Throws if the training was ended early: such a model
// is no member.
History fit(Model& model, const EnsemblePlan& plan, const std::string& what, FitOptions options,
            const TrainingData& data) {
  if (plan.log) options.callbacks.push_back(plan.log->callback_for(what));
  if (!options.interrupted) options.interrupted = plan.stopped.get();
  History history = model.fit(data, options);
  if (options.interrupted && *options.interrupted)
    throw Error(Code::cancelled, "the training of a member was interrupted");
  return history;
}

MemberRecord record_of(const EnsemblePlan& plan, const MemberWork& work) {
  MemberRecord record;
  record.work = work;
  record.data_hash = plan.data_hash;
  return record;
}

std::vector<MemberRecord> train_one(const EnsemblePlan& plan, const MemberWork& work) {
  MemberNetwork network = plan.networks[static_cast<std::size_t>(work.member)];
  const auto runtime = one_thread(network);
  MemberRecord record = record_of(plan, work);
  record.held_out = plan.held_out_rows(work);
  const bool learns_all = plan.options.method != EnsembleMethod::bagging && record.held_out.empty();
  const TrainingData data = data_of(
      plan, network, learns_all ? plan.examples : rows_at(plan.examples, plan.learned_rows(work)));
  if (plan.options.learning_rate) network.options.learning_rate = schedule_of(plan, data, runtime);
  Model model = make_learner(plan, network, runtime);
  FitOptions options = plan.fit;
  if (plan.options.callbacks) options.callbacks = plan.options.callbacks(static_cast<int>(work.member));
  const History history = fit(model, plan, describe(work), options, data);
  for (const Logs& logs : history.logs) record.epochs.push_back(stored_logs(logs));
  if (work.fold < 0) record.weights = stored_weights(model);
  if (!record.held_out.empty())
    record.predictions = {
        stored_tensor("", model.predict(rows_at(plan.x(), record.held_out), rows_at_a_time)[0])};
  return {std::move(record)};
}

// Sets the rate before each step of a cycle, from the optimizer's own down to near 0, and keeps the
// model at the end of each.
class Snapshots {
 public:
  Snapshots(const EnsemblePlan& plan, std::int64_t steps_per_epoch)
      : plan_(plan),
        epochs_(plan.fit.epochs / plan.options.members),
        cycle_(steps_per_epoch * epochs_) {}

  CallbackRef callback() {
    return actorflow::callback(
        {.on_train_begin = [this](FitContext& fit) { rate_ = fit.model().learning_rate(); },
         .on_batch_end = [this](FitContext& fit, std::int64_t, const Logs&) { set_rate(fit, ++step_); },
         .on_epoch_end = [this](FitContext& fit, int epoch,
                                Logs& logs) { end_epoch(fit, epoch, logs); }});
  }
  std::vector<MemberRecord> take() { return std::move(records_); }

 private:
  void set_rate(FitContext& fit, std::int64_t step) {
    const double place = static_cast<double>(step % cycle_) / static_cast<double>(cycle_);
    fit.model().set_learning_rate(rate_ * (1 + std::cos(std::numbers::pi * place)) / 2);
  }

  void end_epoch(FitContext& fit, int epoch, const Logs& logs) {
    logs_.push_back(stored_logs(logs));
    if (epoch % epochs_ != 0) return;
    MemberRecord record = record_of(plan_, {static_cast<std::int64_t>(records_.size())});
    record.weights = stored_weights(fit.model());
    record.epochs = std::move(logs_);
    logs_.clear();
    records_.push_back(std::move(record));
  }

  const EnsemblePlan& plan_;
  const int epochs_;          // of a cycle
  const std::int64_t cycle_;  // in steps
  std::int64_t step_ = 0;
  double rate_ = 0;
  std::vector<std::vector<StoredLog>> logs_;
  std::vector<MemberRecord> records_;
};

std::vector<MemberRecord> train_snapshots(const EnsemblePlan& plan) {
  const MemberNetwork& network = plan.networks[0];
  const auto runtime = one_thread(network);
  const TrainingData data = data_of(plan, network, plan.examples);
  Snapshots snapshots(plan, steps_of_epoch(Server::local(runtime), data, plan.fit));
  Model model = make_learner(plan, network, runtime);
  FitOptions options = plan.fit;
  options.callbacks = {snapshots.callback()};
  fit(model, plan, "the training of all snapshots", options, data);
  return snapshots.take();
}

}  // namespace

std::vector<MemberRecord> train_member(const EnsemblePlan& plan, const MemberWork& work) {
  return on_own_thread([&] {
    return plan.options.method == EnsembleMethod::snapshot ? train_snapshots(plan)
                                                           : train_one(plan, work);
  });
}

Tensor predict_by(const MemberNetwork& network, const std::map<std::string, Tensor>& weights,
                  const Tuple& x) {
  return on_own_thread([&] {
    Model model = make_model(network, one_thread(network));
    model.build(row_types(x));
    model.set_weights(weights);
    return model.predict(x, rows_at_a_time)[0];
  });
}

}  // namespace actorflow
