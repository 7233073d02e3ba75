// The tape, or the function that is traced, in which a mentioned variable is read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/eager/eager_variable.h"

namespace actorflow {

// The scopes of a thread nest. REQUIRES: a scope ends on the thread that made it.
class VariableScope {
 public:
  VariableScope();
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;
  virtual ~VariableScope();

  // Throws failed_precondition, naming the variable that is read, if this thread has none.
  static VariableScope& innermost(std::string_view variable);

  // The variable's value in this scope's graph.
  virtual Output read(const EagerVariable& variable) = 0;
  // Throws invalid_argument for a value of another type or of another graph.
  virtual void assign(const EagerVariable& variable, const Output& value) = 0;
};

// The variables of a scope by their names in its graph.
class KnownVariables {
 public:
  // The variable's name in the graph: its own, with a number behind it where another one has that, as
  // two models of the same layers have.
  const std::string& add(const EagerVariable& variable);
  // Null if there is none.
  const EagerVariable* find(const std::string& name) const;

 private:
  std::map<std::string, EagerVariable> variables_;
};

}  // namespace actorflow
