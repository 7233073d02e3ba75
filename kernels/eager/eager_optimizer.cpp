#include "kernels/eager/eager_optimizer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "dataflow/values/error.h"
#include "kernels/devices/on_device.h"
#include "kernels/eager/variable_state.h"
#include "kernels/update/sparse_update.h"

namespace actorflow {
namespace {

void check_gradient(const EagerVariable& variable, const Gradient& gradient, Device& device) {
  const TensorType type = variable.type();
  try {
    if (!is_float32_or_64(type.dtype))
      throw invalid_argument("expected a variable of float32 or float64, got " + type.to_string());
    if (!gradient.is_dense())
      check_sparse_gradient(type, gradient.rows, device);
    else if (TensorType{gradient.dense.dtype(), gradient.dense.shape()} != type)
      throw invalid_argument("expected " + type.to_string() + ", got " + gradient.dense.describe());
  } catch (const Error& error) {
    throw invalid_argument("the gradient of eager variable '" + variable.name() + "': " + error.what());
  }
}

Gradient on_device(const Gradient& gradient, Device& device) {
  Gradient here;
  if (gradient.is_dense()) here.dense = actorflow::on_device(gradient.dense, device);
  for (const GradientRows& rows : gradient.rows)
    here.rows.push_back(
        {actorflow::on_device(rows.values, device), actorflow::on_device(rows.indices, device)});
  return here;
}

// Errors of `body` begin with the variable's name.
template <class Body>
void named_after(const EagerVariable& variable, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    throw Error(error.code(), "eager variable '" + variable.name() + "': " + error.what());
  }
}

}  // namespace

struct EagerOptimizer::Impl {
  Impl(const Optimizer& optimizer, EagerContext& context_)
      : context(context_), bound(optimizer, context_.library().optimizers()) {}

  // Throws unless all gradients can be applied.
  void check(const std::vector<Gradient>& gradients, const std::vector<EagerVariable>& variables) const {
    if (gradients.size() != variables.size())
      throw invalid_argument("an optimizer got " + std::to_string(gradients.size()) + " gradients for " +
                             std::to_string(variables.size()) + " variables; expected one for each");
    if (std::ranges::all_of(gradients, &Gradient::empty))
      throw invalid_argument(
          "no gradient to apply: the loss depends on none of the variables; were they "
          "read in the tape of the loss?");
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (!gradients[i].empty()) check_update(gradients[i], variables[i]);
  }

  void check_update(const Gradient& gradient, const EagerVariable& variable) const {
    check_gradient(variable, gradient, context.device());
    named_after(variable, [&] { bound.rule->check_variable(variable.type(), context.device()); });
  }

  // As many slots as the optimizer makes for the variable, each of the same type.
  void expect_slots(const EagerVariable& variable, const std::vector<Tensor>& given) const {
    VariableState fresh{actorflow::on_device(variable.read(), context.device()), {}};
    make_slots(bound, fresh, context.device());
    check_state(bound, {fresh.value, given});
    for (std::size_t i = 0; i < given.size(); ++i)
      if (!given[i].valid() || given[i].dtype() != fresh.slots[i].dtype() ||
          given[i].shape() != fresh.slots[i].shape())
        throw invalid_argument("the slot '" + std::string(bound.rule->slots()[i]) +
                               "' of eager variable '" + variable.name() + "' is " +
                               fresh.slots[i].describe() + ", but was given " + given[i].describe());
  }

  // Numbers of steps stay on the host.
  Tensor to_its_place(Tensor slot) const {
    return slot.dtype() == DType::int64 ? slot : actorflow::on_device(slot, context.device());
  }

  void apply(const Gradient& gradient, const EagerVariable& variable) {
    named_after(variable, [&] { update(gradient, variable); });
  }

  // The value is moved out meanwhile, so that it is changed in place where nobody else holds it.
  void update(const Gradient& gradient, const EagerVariable& variable) {
    EagerVariable::State& shared = variable.state();
    const std::lock_guard lock(shared.mutex);
    auto& own = slots.try_emplace(&shared, variable, std::vector<Tensor>()).first->second.second;
    VariableState state{actorflow::on_device(shared.value, context.device()), std::move(own)};
    shared.value = {};
    const auto put_back = [&] {
      shared.value = std::move(state.value);
      own = std::move(state.slots);
    };
    try {
      if (state.slots.size() != bound.rule->slots().size()) make_slots(bound, state, context.device());
      apply_mean(bound, state, std::span(&gradient, 1), context.device(), &context.team());
    } catch (...) {
      put_back();
      throw;
    }
    put_back();
    ++shared.version;
  }

  EagerContext& context;
  BoundOptimizer bound;
  // With the variable, so that its state lives as long as its slots.
  std::map<const EagerVariable::State*, std::pair<EagerVariable, std::vector<Tensor>>> slots;
};

EagerOptimizer::EagerOptimizer(const Optimizer& optimizer, EagerContext& context)
    : impl_(std::make_unique<Impl>(optimizer, context)) {}
EagerOptimizer::EagerOptimizer(EagerOptimizer&&) noexcept = default;
EagerOptimizer& EagerOptimizer::operator=(EagerOptimizer&&) noexcept = default;
EagerOptimizer::~EagerOptimizer() = default;

void EagerOptimizer::apply(const std::vector<Gradient>& gradients,
                           const std::vector<EagerVariable>& variables) {
  std::vector<Gradient> here;
  for (const Gradient& gradient : gradients)
    here.push_back(on_device(gradient, impl_->context.device()));
  impl_->check(here, variables);
  for (std::size_t i = 0; i < here.size(); ++i)
    if (!here[i].empty()) impl_->apply(here[i], variables[i]);
}

const std::string& EagerOptimizer::name() const { return impl_->bound.optimizer.name(); }
std::span<const std::string_view> EagerOptimizer::slot_names() const {
  return impl_->bound.rule->slots();
}

double EagerOptimizer::learning_rate() const { return impl_->bound.optimizer.hyperparameters()[0]; }

void EagerOptimizer::set_learning_rate(double rate) {
  impl_->bound.optimizer = with_learning_rate(impl_->bound.optimizer, rate);
}

std::vector<Tensor> EagerOptimizer::slots(const EagerVariable& variable) const {
  const auto found = impl_->slots.find(&variable.state());
  return found == impl_->slots.end() ? std::vector<Tensor>() : found->second.second;
}

void EagerOptimizer::expect_slots(const EagerVariable& variable,
                                  const std::vector<Tensor>& slots) const {
  if (!slots.empty()) impl_->expect_slots(variable, slots);
}

void EagerOptimizer::set_slots(const EagerVariable& variable, std::vector<Tensor> slots) {
  expect_slots(variable, slots);
  if (slots.empty()) {
    impl_->slots.erase(&variable.state());
    return;
  }
  for (Tensor& slot : slots) slot = impl_->to_its_place(std::move(slot));
  impl_->slots.insert_or_assign(&variable.state(), std::pair(variable, std::move(slots)));
}

}  // namespace actorflow
