#include "kernels/eager/eager_variable.h"

#include "dataflow/values/error.h"
#include "kernels/eager/variable_scope.h"
#include "kernels/eager/variable_state.h"

namespace actorflow {

EagerVariable::EagerVariable(std::string name, Tensor initial) {
  if (name.empty() || !initial.valid())
    throw invalid_argument("an eager variable needs a name and a tensor, got the name '" + name +
                           "' and " + initial.describe());
  state_ = std::make_shared<State>(std::move(name), std::move(initial));
}

const std::string& EagerVariable::name() const { return state_->name; }

TensorType EagerVariable::type() const { return state_->type; }

Tensor EagerVariable::read() const {
  const std::lock_guard lock(state_->mutex);
  return state_->value;
}

void EagerVariable::expect_value(const Tensor& value) const {
  if (TensorType{value.dtype(), value.shape()} != state_->type)
    throw invalid_argument("the eager variable '" + name() + "' is " + state_->type.to_string() +
                           ", but was assigned " + value.describe());
}

void EagerVariable::assign(Tensor value) const {
  expect_value(value);
  const std::lock_guard lock(state_->mutex);
  state_->value = std::move(value);
  ++state_->version;
}

void EagerVariable::assign(Output value) const { VariableScope::innermost(name()).assign(*this, value); }

EagerVariable::operator Output() const { return in_graph(); }

Variable EagerVariable::in_graph() const { return VariableScope::innermost(name()).read(*this); }

}  // namespace actorflow
