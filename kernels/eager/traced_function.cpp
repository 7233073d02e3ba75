#include "kernels/eager/traced_function.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "dataflow/graph/tensor_types.h"
#include "dataflow/values/error.h"
#include "kernels/core/function_region.h"
#include "kernels/core/region.h"
#include "kernels/devices/on_device.h"
#include "kernels/eager/tracing.h"

namespace actorflow {
namespace {

std::string name_of(const TraceOptions& options) { return "the traced function '" + options.name + "'"; }

void expect_fit(const std::vector<TensorType>& actual, const std::vector<TensorType>& expected,
                const TraceOptions& options) {
  const auto fit = [](const TensorType& a, const TensorType& b) {
    return a.dtype == b.dtype && a.shape.compatible_with(b.shape);
  };
  if (!std::ranges::equal(actual, expected, fit))
    throw invalid_argument(name_of(options) + " takes " + to_string(expected) + ", but got " +
                           to_string(actual));
}

// Says for its life for which types a function is traced.
class BeingTraced {
 public:
  using Types = std::vector<TensorType>;

  BeingTraced(std::vector<Types>& all, const Types& types) : all_(all) { all_.push_back(types); }
  BeingTraced(const BeingTraced&) = delete;
  BeingTraced& operator=(const BeingTraced&) = delete;
  ~BeingTraced() { all_.pop_back(); }

 private:
  std::vector<Types>& all_;
};

}  // namespace

struct ConcreteFunction::Impl {
  Impl(const TracedFunction::Function& function, const std::vector<TensorType>& types_,
       const TraceOptions& options_, EagerContext& context_)
      : options(options_), context(context_), types(types_) {
    for (const TensorType& type : types)
      inputs.push_back(graph.placeholder(type.dtype, type.shape, "input"));
    Tracing tracing(graph, context, name_of(options));
    outputs = function(inputs);
    captured = tracing.take();
    for (const auto& each : captured) variables.push_back(each.variable);
    check_outputs();
    compile();
  }

  void check_outputs() const {
    if (outputs.empty()) throw invalid_argument(name_of(options) + " has returned no output");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      expect_in_graph(graph, outputs[i], name_of(options) + ": output " + std::to_string(i));
      outputs[i].type();  // throws
    }
  }

  // Variables are further inputs, and what is assigned to them further outputs, so that the rest is a
  // pure computation.
  void compile() {
    std::vector<Edge> given, wanted;
    for (const Output& input : inputs) given.push_back(input.edge);
    for (const auto& each : captured) given.push_back(each.at_start.edge);
    for (const Output& output : outputs) wanted.push_back(output.edge);
    for (const auto& each : captured)
      if (each.changes()) wanted.push_back(each.in_graph.value().edge);
    const OpLibrary& ops = context.library().ops();
    const DeviceType device = context.device().type();
    auto function = simplified_function_region(graph.def(), given, wanted, ops, device);
    used = std::move(function.inputs);
    body = std::make_unique<RegionBody>(std::move(function.region), ops, device);
  }

  std::vector<Tensor> run(const std::vector<Tensor>& tensors) const {
    expect_fit(types_of(tensors), types, options);
    std::vector<Tensor> needed;
    for (const std::size_t i : used)
      needed.push_back(on_device(i < tensors.size() ? tensors[i] : variables[i - tensors.size()].read(),
                                 context.device()));
    auto results = body->run(needed, context.device(), &context.team());
    needed.clear();
    assign({results.begin() + std::ssize(outputs), results.end()});
    results.resize(outputs.size());
    return results;
  }

  // All or none of what the function assigns.
  void assign(const std::vector<Tensor>& values) const {
    std::vector<const EagerVariable*> changed;
    for (const auto& each : captured)
      if (each.changes()) changed.push_back(&each.variable);
    for (std::size_t i = 0; i < values.size(); ++i) changed[i]->expect_value(values[i]);
    for (std::size_t i = 0; i < values.size(); ++i) changed[i]->assign(values[i]);
  }

  const TraceOptions options;
  EagerContext& context;
  const std::vector<TensorType> types;
  Graph graph;
  Outputs inputs, outputs;
  std::vector<Tracing::Captured> captured;
  std::vector<EagerVariable> variables;
  std::vector<std::size_t> used;  // of the inputs and variables: what is needed
  std::unique_ptr<const RegionBody> body;
};

ConcreteFunction::ConcreteFunction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConcreteFunction::~ConcreteFunction() = default;

const Graph& ConcreteFunction::graph() const { return impl_->graph; }
const Outputs& ConcreteFunction::inputs() const { return impl_->inputs; }
const Outputs& ConcreteFunction::outputs() const { return impl_->outputs; }
const std::vector<EagerVariable>& ConcreteFunction::variables() const { return impl_->variables; }

Outputs ConcreteFunction::updates() const {
  Outputs updates;
  for (const auto& each : impl_->captured) std::ranges::copy(each.updates, std::back_inserter(updates));
  return updates;
}

std::map<std::string, Tensor> ConcreteFunction::values() const {
  std::map<std::string, Tensor> values;
  for (const auto& each : impl_->captured) values[each.in_graph.name()] = each.variable.read();
  return values;
}

std::vector<Tensor> ConcreteFunction::operator()(const std::vector<Tensor>& inputs) const {
  return impl_->run(inputs);
}

struct TracedFunction::Impl {
  struct Trace {
    std::vector<TensorType> types;
    std::unique_ptr<const ConcreteFunction> function;
  };

  Impl(Function function_, TraceOptions options_, EagerContext& context_)
      : function(std::move(function_)), options(std::move(options_)), context(context_) {
    if (!function) throw invalid_argument("trace() was given an empty function");
  }

  // The lock is held while a function is traced, so that it is traced once. It may call itself, with
  // other types.
  const ConcreteFunction& of(const std::vector<TensorType>& types) {
    const std::lock_guard lock(mutex);
    for (const Trace& known : traces)
      if (known.types == types) return *known.function;
    if (traces.size() >= options.max_traces) refuse_more(types);
    if (std::ranges::count(being_traced, types) > 0)
      throw Error(Code::failed_precondition, name_of(options) + " calls itself with " +
                                                 to_string(types) + " while it is traced for them");
    const BeingTraced these(being_traced, types);
    auto impl = std::make_unique<ConcreteFunction::Impl>(function, types, options, context);
    traces.push_back(
        {types, std::unique_ptr<const ConcreteFunction>(new ConcreteFunction(std::move(impl)))});
    return *traces.back().function;
  }

  [[noreturn]] void refuse_more(const std::vector<TensorType>& types) const {
    throw Error(Code::resource_exhausted,
                name_of(options) + " was traced for " + std::to_string(traces.size()) +
                    " signatures, and is now called with " + to_string(types) +
                    "; give TraceOptions::specs with -1 for the dimensions that differ, or a larger "
                    "max_traces");
  }

  const Function function;
  const TraceOptions options;
  EagerContext& context;
  std::recursive_mutex mutex;
  std::vector<Trace> traces;
  std::vector<std::vector<TensorType>> being_traced;
};

TracedFunction::TracedFunction(Function function, TraceOptions options, EagerContext& context)
    : impl_(std::make_shared<Impl>(std::move(function), std::move(options), context)) {}

std::vector<Tensor> TracedFunction::operator()(const std::vector<Tensor>& inputs) const {
  return concrete(types_of(inputs))(inputs);
}

const ConcreteFunction& TracedFunction::concrete(const std::vector<TensorType>& types) const {
  const auto& specs = impl_->options.specs;
  if (specs.empty()) return impl_->of(types);
  expect_fit(types, specs, impl_->options);
  return impl_->of(specs);
}

std::size_t TracedFunction::traces() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->traces.size();
}

TracedFunction trace(TracedFunction::Function function, const TraceOptions& options,
                     EagerContext& context) {
  return TracedFunction(std::move(function), options, context);
}

}  // namespace actorflow
