// The tape, or the function that is traced, in which a mentioned variable is read.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/eager/eager_variable.h"

namespace actorflow {

class EagerContext;

// The scopes of a thread nest. REQUIRES: a scope ends on the thread that made it.
class VariableScope {
 public:
  VariableScope();
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;
  virtual ~VariableScope();

  // Throws failed_precondition, naming the variable that is read, if this thread has none.
  static VariableScope& innermost(std::string_view variable);

  // The scope of a tape's graph, or of a function that is traced; null for a graph of another kind.
  static VariableScope* of(const Graph& graph) { return dynamic_cast<VariableScope*>(graph.observer()); }

  virtual EagerContext& context() const = 0;
  // The variable in this scope's graph, with its value now. Throws failed_precondition in the body of a
  // cond() or while_loop(), unless it was read before.
  virtual Variable read(const EagerVariable& variable) = 0;
  // Throws invalid_argument for a value of another type or of another graph, and failed_precondition in
  // such a body.
  virtual void assign(const EagerVariable& variable, const Output& value) = 0;

 protected:
  static void expect_readable(const Graph& graph, const EagerVariable& variable);
  static void expect_assignable(const Graph& graph, const EagerVariable& variable);
};

// The variables of a graph by name. Nodes that assign to variables know names only, so of several
// variables of one name, as two models of the same layers have, the later ones get a number behind it.
class NamedVariables {
 public:
  // The variable's name in the graph.
  const std::string& name_of(const EagerVariable& variable);
  // Null if there is none.
  const EagerVariable* find(const std::string& name) const;

 private:
  std::map<const EagerVariable::State*, std::string> names_;
  std::map<std::string, EagerVariable> variables_;
};

}  // namespace actorflow
