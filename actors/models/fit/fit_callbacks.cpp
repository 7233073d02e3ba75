#include "actors/models/fit/fit_callbacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "actors/models/model.h"

namespace actorflow {
namespace {

// Beside the state of callbacks: FitContext::number(), and, of a training that a callback has stopped,
// end_of_training(). One that was given another end since, such as more epochs, is not stopped.
const std::string number_of_training = "fit/training", stopped_training = "fit/stopped";

std::optional<std::int64_t> number_in(const ExtraState& saved, const std::string& name) {
  const auto found = saved.find(name);
  return found == saved.end() ? std::nullopt : std::optional(found->second.scalar<std::int64_t>());
}

// "callbacks/<name>/", for the second of a name "callbacks/<name>#2/".
std::vector<std::string> prefixes_of(const Callbacks& callbacks) {
  std::vector<std::string> prefixes;
  std::map<std::string, int> counts;
  for (const auto& callback : callbacks) {
    std::string name = callback->name();
    std::ranges::replace(name, '/', '.');
    const int count = ++counts[name];
    prefixes.push_back(count == 1 ? fmt::format("callbacks/{}/", name)
                                  : fmt::format("callbacks/{}#{}/", name, count));
  }
  return prefixes;
}

}  // namespace

CallbackState state_with(const std::string& prefix, const ExtraState& saved) {
  CallbackState own;
  for (auto each = saved.lower_bound(prefix); each != saved.end() && each->first.starts_with(prefix);
       ++each)
    own[each->first.substr(prefix.size())] = each->second;
  return own;
}

FitCallbacks::FitCallbacks(const Callbacks& callbacks, const std::vector<Metric>& metrics,
                           FitContext& context)
    : callbacks_(callbacks), metrics_(metrics), context_(context) {
  for (const auto& callback : callbacks) looks_at_batches_ |= callback->looks_at_batches();
  for (auto& prefix : prefixes_of(callbacks)) kept_.push_back({.prefix = std::move(prefix)});
  context.set_callbacks(*this);
}

void FitCallbacks::on_train_begin() {
  for (const auto& callback : callbacks_) callback->on_train_begin(context_);
  if (const auto resumed = context_.take_resumed_state()) restore(*resumed);
  for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i].first = callbacks_[i]->state();
}

void FitCallbacks::on_batch_end(std::int64_t batch, std::span<const Tensor> values) {
  if (!looks_at_batches_) return;
  Totals own(metrics_);
  own.add(values, 1);
  tell(batch, own);
}

void FitCallbacks::on_batch_end(std::int64_t batch, std::span<const Tensor> values,
                                std::span<const double> sums) {
  Totals all(metrics_);
  all.add_sums(sums, values);
  tell(batch, all);
}

void FitCallbacks::tell(std::int64_t batch, const Totals& totals) {
  Logs logs;
  totals.write_to(logs);
  for (const auto& callback : callbacks_) callback->on_batch_end(context_, batch, logs);
  save_training();
}

// Callbacks hear of the end of an epoch again that was stopped within: where training goes on from what
// is saved now, they must not know of it.
void FitCallbacks::on_epoch_end(int epoch, Logs& logs) {
  if (context_.model().progress().epoch == epoch) before_part_ = present_state();
  for (const auto& callback : callbacks_) callback->on_epoch_end(context_, epoch, logs);
  save_training();
}

void FitCallbacks::on_train_end() {
  for (const auto& callback : callbacks_) callback->on_train_end(context_);
  save_training();
}

ExtraState FitCallbacks::state(bool stop) const {
  ExtraState all = before_part_ ? *before_part_ : present_state();
  if (const auto& number = context_.number()) all[number_of_training] = Tensor::scalar(*number);
  if (stop && context_.asked_to_stop()) all[stopped_training] = Tensor::scalar(end_of_training());
  return all;
}

ExtraState FitCallbacks::present_state() const {
  ExtraState all;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    for (auto& [name, tensor] : callbacks_[i]->state()) all[kept_[i].prefix + name] = tensor;
  return all;
}

void FitCallbacks::restore(const ExtraState& saved) {
  const auto& number = context_.number();
  restore_each(!number || number_in(saved, number_of_training) == number ? saved : ExtraState());
  if (number_in(saved, stopped_training) == end_of_training()) context_.stop();
}

void FitCallbacks::restore_each(const ExtraState& saved) {
  before_part_.reset();
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const CallbackState own = state_with(kept_[i].prefix, saved);
    kept_[i].restored = !own.empty();
    const CallbackState& state = own.empty() ? kept_[i].first : own;
    if (!state.empty()) callbacks_[i]->restore(state);
  }
}

void FitCallbacks::begin_anew() {
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (!kept_[i].first.empty()) callbacks_[i]->restore(kept_[i].first);
}

void FitCallbacks::warn_of_missing(int epoch) const {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kept_.size(); ++i)
    if (const auto name = callbacks_[i]->misses_before(epoch); !kept_[i].restored && !name.empty())
      names.push_back(name);
  if (names.empty()) return;
  spdlog::warn(
      "fit: training goes on in epoch {}, but {} begin{} anew: what it goes on from does not have what "
      "callbacks have seen in earlier epochs, as when it was saved by other ones",
      epoch, fmt::join(names, ", "), names.size() == 1 ? "s" : "");
}

}  // namespace actorflow
