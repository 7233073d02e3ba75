#include "kernels/eager/variable_scope.h"

#include "dataflow/values/error.h"

namespace actorflow {
namespace {

thread_local std::vector<VariableScope*> scopes_of_thread;

void expect_no_body(const Graph& graph, const EagerVariable& variable, const char* what_is_done,
                    const char* instead) {
  if (graph.collects())
    throw Error(Code::failed_precondition, "the eager variable '" + variable.name() + "' is " +
                                               what_is_done +
                                               " in the body of a cond() or while_loop(); " + instead);
}

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

void VariableScope::expect_readable(const Graph& graph, const EagerVariable& variable) {
  expect_no_body(
      graph, variable, "read",
      "read it before, as in `const Output before = variable;`, and use what was read inside");
}

void VariableScope::expect_assignable(const Graph& graph, const EagerVariable& variable) {
  expect_no_body(graph, variable, "assigned",
                 "let the body return the value, and assign that afterwards");
}

const std::string& NamedVariables::name_of(const EagerVariable& variable) {
  const auto [entry, is_new] = names_.try_emplace(&variable.state(), variable.name());
  std::string& name = entry->second;
  if (!is_new) return name;
  for (int number = 1; !variables_.try_emplace(name, variable).second; ++number)
    name = variable.name() + "_" + std::to_string(number);
  return name;
}

const EagerVariable* NamedVariables::find(const std::string& name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

}  // namespace actorflow
