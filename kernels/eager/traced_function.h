// Tracing: a function of Outputs becomes graphs, one for each signature of its inputs.
//
//   TracedFunction predict = trace([&](const Outputs& in) -> Outputs {
//     return {softmax(matmul(in[0], w) + b)};
//   });
//   const std::vector<Tensor> results = predict({images});
//
// The function is called once for a signature, to build a graph; the graph then runs in its place, with
// the same bits (but for constants, which are computed on the CPU also for a GPU). So its C++ control
// flow, and what else it does, takes place while it is traced only.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/eager/eager_context.h"
#include "kernels/eager/eager_variable.h"

namespace actorflow {

using Outputs = std::vector<Output>;

struct TraceOptions {
  std::string name = "function";  // in errors
  // The types of the inputs; a dimension of -1 is open. Tensors of other types are refused, and there is
  // one graph. None: a graph for each combination of dtypes and shapes.
  std::vector<TensorType> specs = {};
  // More signatures than these throw resource_exhausted: a function that is traced for every new shape
  // costs more than eager ops do.
  std::size_t max_traces = 16;
};

// The graph of one signature. Thread-safe.
class ConcreteFunction {
 public:
  ConcreteFunction(const ConcreteFunction&) = delete;
  ConcreteFunction& operator=(const ConcreteFunction&) = delete;
  ~ConcreteFunction();

  // For a Session, or for an export. In a session the variables are the graph's own, which its
  // initializers give the values that they had when the function was traced.
  const Graph& graph() const;
  const Outputs& inputs() const;  // placeholders
  const Outputs& outputs() const;
  // Nodes that assign to variables: targets of a session's step.
  Outputs updates() const;
  // What the function has read or assigned, in this order.
  const std::vector<EagerVariable>& variables() const;
  // The variables' values now by their names in the graph, as an export takes them.
  std::map<std::string, Tensor> values() const;

  // Reads the variables, computes, then assigns to variables what the function assigns; if it throws, it
  // has assigned nothing. Of two calls at once one may undo what the other has assigned. Throws
  // invalid_argument for other types than those of the inputs, and what the kernels throw.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const;

 private:
  friend class TracedFunction;
  struct Impl;
  explicit ConcreteFunction(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A handle: copies share their graphs. Thread-safe if the function is.
class TracedFunction {
 public:
  using Function = std::function<Outputs(const Outputs& inputs)>;

  TracedFunction(Function function, TraceOptions options, EagerContext& context);

  // Throws what ConcreteFunction and the function throw, and unimplemented, naming the node, for what
  // needs a session.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs) const;
  // The graph for inputs of these types, which is made if it is not there.
  const ConcreteFunction& concrete(const std::vector<TensorType>& types) const;
  std::size_t traces() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

TracedFunction trace(TracedFunction::Function function, const TraceOptions& options = {},
                     EagerContext& context = EagerContext::standard());

}  // namespace actorflow
