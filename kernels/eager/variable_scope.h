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

// The variables of a tape by name. Of several of one name, as two models of the same layers have, the
// one that was mentioned last: nodes that assign to variables know names only, and a model mentions its
// own before its layers change any.
class KnownVariables {
 public:
  void mention(const EagerVariable& variable) { variables_.insert_or_assign(variable.name(), variable); }
  // Null if there is none.
  const EagerVariable* find(const std::string& name) const;

 private:
  std::map<std::string, EagerVariable> variables_;
};

}  // namespace actorflow
