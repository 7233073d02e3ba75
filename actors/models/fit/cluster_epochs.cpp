// What the chief does where epochs begin and end: it takes what replicas have measured, and tells the
// callbacks.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/models/fit/cluster_fit.h"
#include "actors/models/fit/fit_loop.h"
#include "actors/runtime/runtime.h"
#include "actors/strategies/meeting.h"

namespace actorflow {
namespace {

// Beside the state of callbacks: the last epoch of whose end they had heard.
const std::string told_epochs = "fit/told_epochs";

}  // namespace

// The others would wait for a chief that has failed before its first session.
void ClusterFit::begin_callbacks() {
  callbacks_are_new_ = true;
  try {
    callbacks_.on_train_begin();
    epoch_.resumed = training_.take_resumed_sums();
  } catch (...) {
    tell_why_the_chief_failed(server_);
    throw;
  }
}

void ClusterFit::begin(Session& session, std::int64_t global_step) {
  place_ = global_step - first_step_.value();
  next_place_ = is_sync() ? place_ : place_ + task_.replica;
  next_batch_ = -1;
  if (!task_.is_chief()) return;
  use(session);
  end_missed_epoch(restore_callbacks());
  FitProgress& progress = engine_.progress;
  const int epoch = epoch_of(place_);
  if (std::exchange(callbacks_are_new_, false) &&
      (training_.resumed() || epoch > training_.first().epoch))
    callbacks_.warn_of_missing(epoch);
  if (epoch_.line && !epoch_.begins && progress.epoch == epoch &&
      place_ == (epoch - 1) * steps_per_epoch_)
    begin_epoch_again();
  epoch_.begins = epoch_.begins || !epoch_.line || progress.epoch != epoch;
  // Of a new training asynchronous replicas may have made steps by now: its epoch begins all the same.
  const bool is_new = std::exchange(initialised_, false) && epoch == training_.first().epoch;
  progress = {.epoch = epoch, .batches = is_new ? training_.first().batches : place_ % steps_per_epoch_};
  hand_out_changes(place_);
}

// Callbacks go back with the model, unless they have ended training already. Returns whether the model
// was restored.
bool ClusterFit::restore_callbacks() {
  if (!restored_) return false;
  const ExtraState saved = *std::exchange(restored_, std::nullopt);
  may_end_ = place_ > first_place();
  if (training_.stopped()) return true;
  callbacks_.restore(saved);
  epoch_.sums.reset();
  const auto told = saved.find(told_epochs);
  epoch_.told.reset();
  if (told != saved.end()) epoch_.told = static_cast<int>(told->second.scalar<std::int64_t>());
  return true;
}

// A task was lost while an epoch ended, or the checkpoint is of the last step of an epoch, before its
// end: callbacks hear of it now. Of more than one epoch the sums are gone.
void ClusterFit::end_missed_epoch(bool restored) {
  const int before = epoch_of(place_) - 1;
  epoch_.told = std::clamp(epoch_.told.value_or(before), before - 1, before);
  while (!history_.epochs.empty() && history_.epochs.back() > *epoch_.told) {
    history_.epochs.pop_back();
    history_.logs.pop_back();
  }
  if (!is_over(*epoch_.told + 1, place_) || training_.stopped()) return;
  engine_.progress = {.epoch = *epoch_.told + 1, .batches = steps_per_epoch_};
  epoch_.begins = epoch_.begins || restored || !epoch_.line;
  end_epoch();
}

bool ClusterFit::is_over(int epoch, std::int64_t place) const {
  return epoch <= options_.epochs && place >= epoch * steps_per_epoch_;
}

void ClusterFit::begin_epoch() {
  const int epoch = engine_.progress.epoch;
  epoch_.sum_is_finite = true;
  if (epoch <= options_.epochs) {
    epoch_.rate_before = own_rate();
    epoch_.line.emplace(server_.runtime()->clock(), options_.verbosity == Verbosity::silent, epoch,
                        options_.epochs, steps_per_epoch_);
    callbacks_.on_epoch_begin(epoch);
  }
  epoch_.begins = false;
}

// After a loss before its first step. The checkpoint that was restored, if any, lacks what callbacks had
// changed; without one it is undone, so that they find the same either way.
void ClusterFit::begin_epoch_again() {
  epoch_.begins = true;
  if (epoch_.rate_before) in_session_->set_learning_rate(*epoch_.rate_before);
}

std::optional<double> ClusterFit::own_rate() {
  if (engine_.compiled().learning_rate || !nodes_->has_one_rate()) return std::nullopt;
  return in_session_->session().run(nodes_->learning_rate.value()).scalar<double>();
}

void ClusterFit::end_epoch() {
  if (epoch_.begins) begin_epoch();  // other replicas have made all of it
  const int epoch = engine_.progress.epoch;
  if (!epoch_.sums) epoch_.sums = take_sums(epoch);
  Logs logs = logs_of_epoch(engine_, totals_of(*epoch_.sums, epoch), data_, epoch);
  epoch_.sums.reset();
  epoch_.told = epoch;
  engine_.progress = {.epoch = epoch + 1};
  tell_epoch(epoch, std::move(logs));
  epoch_.begins = true;
}

// As on one device: an epoch that was interrupted or stopped counts as far as it came, and is not
// validated.
void ClusterFit::end_part_of_epoch() {
  if (!epoch_.line || engine_.progress.batches == 0 || epoch_.last_values.empty()) return;
  const int epoch = engine_.progress.epoch;
  Logs logs;
  totals_of(epoch_sums_->so_far(in_session_->session(), epoch), epoch).write_to(logs);
  tell_epoch(epoch, std::move(logs));
}

void ClusterFit::tell_epoch(int epoch, Logs logs) {
  epoch_.line->finish(logs);
  callbacks_.on_epoch_end(epoch, logs);
  history_.epochs.push_back(epoch);
  history_.logs.push_back(std::move(logs));
}

// The end of the last epoch may have been interrupted, too.
void ClusterFit::on_last_step(Session& session) {
  if (!task_.is_chief() || !epoch_.line || epoch_.last_values.empty() || training_.stopped()) return;
  use(session);
  if (engine_.progress.epoch == options_.epochs && engine_.progress.batches == steps_per_epoch_)
    end_epoch();
}

// A synchronous epoch waits for the sums of all. An asynchronous one waits for any, unless the next one
// is over, too: replicas that are ahead may have counted for other epochs alone.
double ClusterFit::expected_examples(int epoch) const {
  const double any = is_over(epoch + 1, place_) ? 0 : 1;
  std::int64_t all = own_data_ ? own_data_->examples() : data_.training.examples_of_epoch();
  // Its first batches may have been trained before, by a program that has left a backup.
  const bool is_part = epoch == epoch_.began_within;
  if (is_part) all -= training_.first().batches * options_.batch_size;
  return is_sync() && !(is_part && own_data_) ? static_cast<double>(all) : any;
}

// After the loss of a task there may be more or fewer.
Tensor ClusterFit::take_sums(int epoch) {
  const double expected = expected_examples(epoch);
  Tensor sums = epoch_sums_->take(in_session_->session(), *server_.runtime(), epoch, expected);
  if (const double got = sums.values<double>()[0]; is_sync() && got < expected)
    spdlog::warn(
        "{}: epoch {} has {:.0f} examples, but those of its {} replicas that have said so within "
        "1 s have {:.0f}: its loss and metrics are of these; is a replica slow, or was one lost?",
        server_.name().to_string(), epoch, expected, task_.num_replicas(), got);
  return sums;
}

// For a backup amid an epoch.
FitContext::Sums ClusterFit::sums_so_far() const {
  const int epoch = engine_.progress.epoch;
  return totals_of(epoch_sums_->so_far(in_session_->session(), epoch), epoch).sums();
}

Totals ClusterFit::totals_of(const Tensor& sums, int epoch) const {
  std::vector<Tensor> like = epoch_.last_values;
  if (like.empty())  // of a chief that has come back, and has made no step
    for (const Output& value : fetches_of(step_nodes_.measured))
      like.push_back(Tensor::zeros(value.dtype(), value.shape()));
  Totals totals = actorflow::totals_of(engine_.compiled().metrics, sums, epoch_.last_values, like);
  if (epoch == epoch_.began_within) totals.add_sums(epoch_.resumed);
  return totals;
}

// `of_all`: what all replicas have measured in this step or, where steps do not add that up, so far in
// the epoch; then a loss of another replica that is not finite takes the place of the chief's, once.
void ClusterFit::tell_callbacks(std::span<const Tensor> own, const Tensor& of_all) {
  if (nodes_->reduced_row())
    return callbacks_.on_batch_end(engine_.progress.batches, own, of_all.values<double>());
  std::vector<Tensor> values(own.begin(), own.end());
  if (const auto loss = new_not_finite(own[0], of_all)) values[0] = Tensor::scalar(*loss);
  callbacks_.on_batch_end(engine_.progress.batches, values);
}

std::optional<double> ClusterFit::new_not_finite(const Tensor& own_loss, const Tensor& sums) {
  const double loss = loss_sum(sums, engine_.progress.epoch);
  const bool own_is_finite = std::isfinite(number(own_loss, 0));
  const bool was_finite = std::exchange(epoch_.sum_is_finite, std::isfinite(loss) && own_is_finite);
  if (std::isfinite(loss) || !was_finite || !own_is_finite) return std::nullopt;
  return loss;
}

// A restart after the end is told from a second fit() by the mark of the end alone: without that a stop
// leaves no mark either.
ExtraState ClusterFit::state_of_callbacks() const {
  ExtraState state = callbacks_.state(replica_options_.mark_end && may_end_);
  if (!options_.callbacks.empty() && epoch_.told)
    state[told_epochs] = Tensor::scalar<std::int64_t>(*epoch_.told);
  return state;
}

}  // namespace actorflow
