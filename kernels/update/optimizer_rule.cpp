#include "kernels/update/optimizer_rule.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dataflow/values/error.h"
#include "dataflow/values/spelling.h"

namespace actorflow {
namespace {

VariableState moved(const VariableState& state, const std::function<Tensor(const Tensor&)>& move) {
  VariableState result{move(state.value), {}};
  for (const auto& slot : state.slots)
    result.slots.push_back(slot.dtype() == state.value.dtype() ? move(slot) : slot);
  return result;
}

void on_host(VariableState& state, Device& device, const std::function<void(VariableState&)>& update) {
  VariableState host = moved(state, [&](const Tensor& tensor) { return device.to_host(tensor); });
  update(host);
  state = moved(host, [&](const Tensor& tensor) { return device.to_device(tensor); });
}

}  // namespace

void OptimizerRule::apply_each(std::span<VariableUpdate> updates, Device& device,
                               Team* team) const noexcept {
  for (VariableUpdate& update : updates) try {
      apply(update.values, *update.state, {&update.gradient, 1}, device, team);
    } catch (...) {
      update.failure = std::current_exception();
    }
}

OptimizerLibrary::OptimizerLibrary(std::span<const OptimizerRule* const> own) {
  for (const auto rules : {builtin_optimizer_rules(), own})
    for (const OptimizerRule* rule : rules)
      if (!rules_.emplace(rule->name(), rule).second)
        throw Error(Code::already_exists,
                    "there are two optimizers named '" + std::string(rule->name()) + "'");
}

const OptimizerRule& OptimizerLibrary::at(std::string_view name) const {
  if (const auto found = rules_.find(name); found != rules_.end()) return *found->second;
  std::vector<std::string_view> known;
  std::string list;
  for (const auto& entry : rules_) {
    known.push_back(entry.first);
    list += (list.empty() ? "" : ", ") + std::string(entry.first);
  }
  throw Error(Code::not_found, "this task knows no optimizer '" + std::string(name) + "', only " + list +
                                   did_you_mean(name, known) +
                                   "; an optimizer of your own must be in ServerOptions::extensions of "
                                   "every task that has variables");
}

const OptimizerLibrary& builtin_optimizers() {
  static const auto* library = new OptimizerLibrary({});
  return *library;
}

BoundOptimizer::BoundOptimizer(Optimizer chosen, const OptimizerLibrary& library)
    : optimizer(std::move(chosen)), rule(&library.at(optimizer.name())) {
  rule->check(optimizer.hyperparameters());
}

void update_by_way_of_host(
    VariableState& state, std::span<const Tensor> gradients, Device& device,
    const std::function<void(VariableState&, std::span<const Tensor>, Device&)>& update) {
  std::vector<Tensor> host;
  for (const auto& gradient : gradients) host.push_back(device.to_host(gradient));
  on_host(state, device, [&](VariableState& here) { update(here, host, cpu_device()); });
}

void update_rows_by_way_of_host(
    VariableState& state, std::span<const SparseGradient> gradients, Device& device,
    const std::function<void(VariableState&, std::span<const SparseGradient>, Device&)>& update) {
  std::vector<SparseGradient> host(gradients.begin(), gradients.end());
  for (auto& gradient : host)
    for (auto& rows : gradient) rows = {device.to_host(rows.values), device.to_host(rows.indices)};
  on_host(state, device, [&](VariableState& here) { update(here, host, cpu_device()); });
}

}  // namespace actorflow
