#include "kernels/eager/variable_scope.h"

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

thread_local std::vector<VariableScope*> scopes_of_thread;

}  // namespace

VariableScope::VariableScope() { scopes_of_thread.push_back(this); }
VariableScope::~VariableScope() { std::erase(scopes_of_thread, this); }

VariableScope& VariableScope::innermost(std::string_view variable) {
  if (scopes_of_thread.empty())
    throw Error(Code::failed_precondition,
                "the eager variable '" + std::string(variable) +
                    "' is used as a tensor, but this thread has no GradientTape and traces no function; "
                    "make a tape first, or use read() for its value");
  return *scopes_of_thread.back();
}

const EagerVariable* KnownVariables::find(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

}  // namespace actorflow
