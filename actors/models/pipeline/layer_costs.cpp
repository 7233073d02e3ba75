#include "actors/models/pipeline/layer_costs.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "actors/client/session.h"
#include "actors/layers/network_builder.h"
#include "actors/task/server.h"
#include "dataflow/graph/gradient.h"
#include "dataflow/train/replica_device_setter.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr int measured_passes = 5;

// A use of a layer in a graph of its own, whose inputs are fed.
class LayerAlone {
 public:
  // `learns`: whether the layer's variables have gradients; `is_first`: whether its inputs are the
  // model's, which need none.
  LayerAlone(const SymbolicTensor& result, const Tuple& inputs, const CompileOptions& options,
             bool learns, bool is_first, const std::string& device);

  struct Measured {
    Tensor result;
    Seconds time{};
  };
  Measured measure(const Server& server, const Tuple& inputs);

 private:
  void build(const SymbolicTensor& result, const Tuple& inputs, const CompileOptions& options,
             bool learns, bool is_first);
  void add_backward(bool learns, bool is_first);
  Seconds fastest(Session& session, const Feeds& feeds, const Output& target, Clock& clock) const;

  Graph graph_;
  ModelVariables variables_;
  std::vector<Output> placeholders_;
  Output result_, passes_, nothing_;
};

LayerAlone::LayerAlone(const SymbolicTensor& result, const Tuple& inputs, const CompileOptions& options,
                       bool learns, bool is_first, const std::string& device) {
  graph_.on([place = device_in_task(device)](const Node&) { return place; },
            [&] { build(result, inputs, options, learns, is_first); });
}

void LayerAlone::build(const SymbolicTensor& result, const Tuple& inputs, const CompileOptions& options,
                       bool learns, bool is_first) {
  std::vector<SymbolicTensor> symbols;
  for (const Tensor& value : inputs) {
    placeholders_.push_back(graph_.placeholder(value.dtype(), value.shape()));
    symbols.emplace_back(SymbolicTensor::Def{});
  }
  const SymbolicTensor alone = (*result.def().layer)(symbols);
  const Architecture one{symbols, {alone}};
  ModelPass pass{.graph = graph_,
                 .variables = variables_,
                 .seed = options.seed,
                 .training = true,
                 .step = graph_.constant(Tensor::scalar<std::int64_t>(0))};
  graph_.precision(options.precision, [&] {
    result_ = NetworkBuilder(pass, one, placeholders_).build(alone);
    add_backward(learns, is_first);
  });
  nothing_ = graph_.group(placeholders_);
}

void LayerAlone::add_backward(bool learns, bool is_first) {
  std::vector<Output> passes{result_};
  if (is_floating(result_.dtype())) {
    std::vector<Output> to;
    if (!is_first) to = placeholders_;
    if (learns)
      for (const Variable& variable : variables_.trained()) to.push_back(variable);
    for (const Output& gradient : gradients(sum(result_), to))
      if (gradient) passes.push_back(gradient);
  }
  passes_ = graph_.group(passes);
}

LayerAlone::Measured LayerAlone::measure(const Server& server, const Tuple& inputs) {
  Session session(server.target(), graph_, {.isolate = true});
  session.initialize_variables();
  Feeds feeds;
  for (std::size_t i = 0; i < inputs.size(); ++i) feeds.emplace_back(placeholders_[i], inputs[i]);
  Measured measured{.result = session.run(result_, feeds)};
  Clock& clock = server.runtime()->clock();
  measured.time = std::max(
      Seconds(0), fastest(session, feeds, passes_, clock) - fastest(session, feeds, nothing_, clock));
  return measured;
}

// The pass before, which is not counted, makes the plan and the memory warm.
Seconds LayerAlone::fastest(Session& session, const Feeds& feeds, const Output& target,
                            Clock& clock) const {
  session.run(std::vector<Output>{}, feeds, {target});
  auto least = Clock::time_point::duration::max();
  for (int pass = 0; pass < measured_passes; ++pass) {
    const auto begin = clock.now();
    session.run(std::vector<Output>{}, feeds, {target});
    least = std::min(least, clock.now() - begin);
  }
  return least;
}

}  // namespace

LayerCosts measure_layers(const Architecture& architecture, const Tuple& inputs,
                          const CompileOptions& options, const std::string& device,
                          const std::shared_ptr<Runtime>& runtime, std::mutex& building) {
  const Server server = Server::local(runtime);
  std::vector<std::pair<SymbolicTensor, Tensor>> values;
  for (std::size_t i = 0; i < architecture.inputs.size(); ++i)
    values.emplace_back(architecture.inputs[i], inputs.at(i));
  const auto value_of = [&](const SymbolicTensor& tensor) {
    return std::ranges::find(values, tensor, [](const auto& entry) { return entry.first; })->second;
  };
  LayerCosts costs;
  const auto layers = named_layers(architecture);
  for (const SymbolicTensor& result : layer_results(architecture)) {
    const auto& name = std::ranges::find(layers, *result.def().layer, &NamedLayer::layer)->name;
    bool is_first = true;
    Tuple own;
    for (const SymbolicTensor& input : result.def().inputs) {
      own.push_back(value_of(input));
      is_first = is_first && std::ranges::count(architecture.inputs, input) > 0;
    }
    std::unique_lock lock(building);
    LayerAlone alone(result, own, options, !architecture.frozen.contains(name), is_first, device);
    lock.unlock();
    const auto measured = alone.measure(server, own);
    values.emplace_back(result, measured.result);
    costs[name] += measured.time.count();
  }
  const bool none = std::ranges::all_of(costs, [](const auto& cost) { return cost.second == 0; });
  return none ? LayerCosts{} : costs;
}

}  // namespace actorflow
