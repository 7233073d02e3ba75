#include "actors/models/pipeline/micro_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "actors/layers/network_builder.h"
#include "actors/models/pipeline/moved_averages.h"
#include "actors/models/pipeline/pass_order.h"
#include "dataflow/graph/core_ops.h"
#include "dataflow/graph/gradient.h"
#include "dataflow/values/error.h"
#include "kernels/ops.h"

namespace actorflow {
namespace {

using SymbolicTensors = std::vector<SymbolicTensor>;

bool contains(const SymbolicTensors& tensors, const SymbolicTensor& tensor) {
  return std::ranges::find(tensors, tensor) != tensors.end();
}

// The results of other stages that a stage uses. The last one also uses the model's outputs.
SymbolicTensors imports_of(const Architecture& architecture, const ModelStage& stage, bool is_last) {
  SymbolicTensors imports;
  const auto use = [&](const SymbolicTensor& tensor) {
    const bool is_input = contains(architecture.inputs, tensor);
    if (!is_input && !contains(stage.results, tensor) && !contains(imports, tensor))
      imports.push_back(tensor);
  };
  for (const SymbolicTensor& result : stage.results) std::ranges::for_each(result.def().inputs, use);
  if (is_last) std::ranges::for_each(architecture.outputs, use);
  return imports;
}

}  // namespace

struct MicroBatches::MicroBatch {
  MicroBatch(const MicroBatchModel& model, int number_, MicroBatchFeeds feeds_)
      : number(number_),
        feeds(std::move(feeds_)),
        variables(model.variables),
        pass{.graph = model.graph, .variables = variables, .seed = model.seed, .training = true},
        network(pass, model.architecture, feeds.inputs) {}

  const int number;
  MicroBatchFeeds feeds;
  ModelVariables variables;  // averages as the micro-batch before has left them
  ModelPass pass;
  NetworkBuilder network;
  std::size_t updates_taken = 0;
  Output loss;  // its part of the batch's
  std::vector<Output> metrics;
  std::vector<std::size_t> losses_until;        // of each stage: the losses in `pass` so far
  std::map<Edge, std::vector<Output>> arrived;  // gradients, from the last stage on

  // The losses that layers of these stages have added.
  std::vector<Output> losses_of(int first_stage, int last_stage) const {
    const auto until = [&](int stage) {
      return pass.losses.begin() +
             static_cast<std::ptrdiff_t>(stage < 0 ? 0 : losses_until[static_cast<std::size_t>(stage)]);
    };
    return {until(first_stage - 1), until(last_stage)};
  }
};

struct MicroBatches::Arrivals {
  std::vector<Output> tensors, gradients;
};

struct MicroBatches::StageWork {
  SymbolicTensors imports, exports;
  std::size_t first_variable = 0, last_variable = 0;
  std::map<std::size_t, Output> sums;  // of gradients, by the number of the variable
  Output done;                         // the pass that was added last
};

MicroBatches::MicroBatches(MicroBatchModel model, PipelineSchedule schedule,
                           std::vector<MicroBatchFeeds> feeds)
    : model_(std::move(model)), stages_(model_.stages.size()) {
  for (std::size_t i = 0; i < feeds.size(); ++i)
    micro_batches_.push_back(
        std::make_unique<MicroBatch>(model_, static_cast<int>(i), std::move(feeds[i])));
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    StageWork& work = stages_[i];
    work.imports = imports_of(model_.architecture, model_.stages[i], i + 1 == stages_.size());
    for (std::size_t from = 0; from < i; ++from)
      for (const SymbolicTensor& tensor : work.imports)
        if (contains(model_.stages[from].results, tensor) && !contains(stages_[from].exports, tensor))
          stages_[from].exports.push_back(tensor);
    work.first_variable = i == 0 ? 0 : model_.variables_until[i - 1];
    work.last_variable = model_.variables_until[i];
  }
  const auto count = static_cast<int>(micro_batches_.size());
  for (const PipelinePass& pass : pipeline_passes(schedule, static_cast<int>(stages_.size()), count)) {
    MicroBatch& micro_batch = *micro_batches_[static_cast<std::size_t>(pass.micro_batch)];
    pass.backward ? backward(pass.stage, micro_batch) : forward(pass.stage, micro_batch);
  }
  add_measured();
  add_penalties();
  for (const StageWork& work : stages_)
    for (const auto& [number, sum] : work.sums)
      gradients_.push_back({sum, model_.variables.entries[number].variable});
  if (gradients_.empty())
    throw invalid_argument("the loss depends on none of the model's variables that are trained");
}

MicroBatches::~MicroBatches() = default;

template <class Body>
void MicroBatches::in_order(int stage, const std::string& name, Body&& body) {
  StageWork& work = stages_[static_cast<std::size_t>(stage)];
  Graph& graph = model_.graph;
  graph.on(model_.stages[static_cast<std::size_t>(stage)].device, [&] {
    graph.name_scope(fmt::format("stage_{}/{}", stage, name), [&] {
      work.done = add_after(graph, work.done, [&] { return std::forward<Body>(body)(work); });
    });
  });
}

// Of random ops: a number for each micro-batch of each step.
Output MicroBatches::step_of(const MicroBatch& micro_batch) const {
  if (micro_batches_.size() == 1) return model_.step;
  return model_.step * std::ssize(micro_batches_) + micro_batch.number;
}

void MicroBatches::forward(int stage, MicroBatch& micro_batch) {
  in_order(stage, fmt::format("forward_{}", micro_batch.number), [&](StageWork& work) {
    std::vector<Output> ends;
    ModelPass& pass = micro_batch.pass;
    pass.step = step_of(micro_batch);
    model_.graph.precision(model_.options.precision, [&] {
      for (const SymbolicTensor& result : model_.stages[static_cast<std::size_t>(stage)].results)
        micro_batch.network.build(result);
      if (&work == &stages_.back()) measure(micro_batch);
    });
    micro_batch.losses_until.push_back(pass.losses.size());
    for (const SymbolicTensor& tensor : work.exports) ends.push_back(micro_batch.network.build(tensor));
    for (const Output& loss : micro_batch.losses_of(stage, stage)) ends.push_back(loss);
    take_updates(micro_batch, ends);
    if (micro_batch.loss) ends.push_back(micro_batch.loss);
    ends.insert(ends.end(), micro_batch.metrics.begin(), micro_batch.metrics.end());
    return ends;
  });
}

void MicroBatches::measure(MicroBatch& micro_batch) {
  std::vector<Output> predicted;
  for (const SymbolicTensor& output : model_.architecture.outputs)
    predicted.push_back(micro_batch.network.build(output));
  LabelFeeds labels = micro_batch.feeds.labels;
  labels.masks = masks_of(micro_batch.pass, predicted);
  micro_batch.loss = loss_of(model_.options, predicted, labels);
  for (const Output& loss : micro_batch.pass.losses)
    micro_batch.loss = micro_batch.loss + by_examples(loss, micro_batch.feeds.examples, labels.share);
  micro_batch.metrics = metrics_of(model_.options, predicted, labels);
}

void MicroBatches::take_updates(MicroBatch& micro_batch, std::vector<Output>& ends) {
  if (!model_.keeps_averages) return;
  const auto& updates = micro_batch.pass.updates;
  for (; micro_batch.updates_taken < updates.size(); ++micro_batch.updates_taken) {
    const MovedAverage moved = move_average(micro_batch.variables, updates[micro_batch.updates_taken],
                                            micro_batch.feeds.examples > 0.0);
    for (auto i = static_cast<std::size_t>(micro_batch.number); i < micro_batches_.size(); ++i)
      micro_batches_[i]->variables.entries[moved.entry].variable = moved.after;
    updates_.push_back(moved.update);
    ends.push_back(moved.update);
  }
}

bool MicroBatches::learns(Output tensor) {
  const GraphDef& graph = model_.graph.def();
  const auto known = learns_.size();
  learns_.resize(graph.nodes.size());
  if (known == 0)
    for (const Variable& variable : model_.variables.trained())
      learns_[static_cast<std::size_t>(Output(variable).edge.node)] = true;
  for (std::size_t id = known; id < learns_.size(); ++id)
    if (std::ranges::any_of(graph.nodes[id].inputs, [this](Edge input) {
          return learns_[static_cast<std::size_t>(input.node)];
        }))
      learns_[id] = true;
  return learns_[static_cast<std::size_t>(tensor.edge.node)];
}

// The tensors through which gradients leave a pass: results of other stages, and for the last stage the
// losses that layers of other stages have added.
std::vector<Output> MicroBatches::sources_of(int stage, MicroBatch& micro_batch) {
  const StageWork& work = stages_[static_cast<std::size_t>(stage)];
  std::vector<Output> sources;
  for (const SymbolicTensor& tensor : work.imports) sources.push_back(micro_batch.network.build(tensor));
  if (&work == &stages_.back() && stage > 0)
    for (const Output& loss : micro_batch.losses_of(0, stage - 1)) sources.push_back(loss);
  std::erase_if(
      sources, [this](const Output& tensor) { return !is_floating(tensor.dtype()) || !learns(tensor); });
  return sources;
}

// The tensors through which gradients come to a pass, each with its gradients, which are taken: a layer
// may return its input, so that several stages export one tensor.
MicroBatches::Arrivals MicroBatches::arrivals_at(int stage, MicroBatch& micro_batch) {
  const StageWork& work = stages_[static_cast<std::size_t>(stage)];
  Arrivals arrivals;
  if (&work == &stages_.back()) {
    arrivals.tensors.push_back(micro_batch.loss);
    arrivals.gradients.push_back(scalar_like(micro_batch.loss, 1.0));
    return arrivals;
  }
  std::vector<Output> tensors = micro_batch.losses_of(stage, stage);
  for (const SymbolicTensor& tensor : work.exports) tensors.push_back(micro_batch.network.build(tensor));
  for (const Output& tensor : tensors)
    for (const Output& gradient : std::exchange(micro_batch.arrived[tensor.edge], {})) {
      arrivals.tensors.push_back(tensor);
      arrivals.gradients.push_back(identity(gradient));  // on this stage, where they are added up
    }
  return arrivals;
}

void MicroBatches::backward(int stage, MicroBatch& micro_batch) {
  in_order(stage, fmt::format("backward_{}", micro_batch.number), [&](StageWork& work) {
    const Arrivals arrivals = arrivals_at(stage, micro_batch);
    std::vector<std::size_t> numbers;
    std::vector<Output> targets, ends;
    for (std::size_t i = work.first_variable; i < work.last_variable; ++i) {
      if (!model_.variables.entries[i].trained) continue;
      numbers.push_back(i);
      targets.push_back(model_.variables.entries[i].variable);
    }
    const auto sources = sources_of(stage, micro_batch);
    targets.insert(targets.end(), sources.begin(), sources.end());
    std::vector<Output> found(targets.size());
    if (!arrivals.tensors.empty() && !targets.empty())
      found = actorflow::gradients(arrivals.tensors, arrivals.gradients, targets);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i]) continue;
      if (i < numbers.size()) {
        add_up(work, numbers[i], found[i], ends);
      } else {
        micro_batch.arrived[targets[i].edge].push_back(found[i]);
        ends.push_back(found[i]);
      }
    }
    // Where there is nothing to do, the pass takes its place in the order all the same.
    if (ends.empty() && stage + 1 < std::ssize(stages_))
      ends = {stages_[static_cast<std::size_t>(stage) + 1].done};
    if (ends.empty() || !arrivals.tensors.empty()) return ends;
    ends.push_back(work.done);
    return ends;
  });
}

// A gradient that is sparse stays so: the nodes of the dense sum then never run.
void MicroBatches::add_up(StageWork& work, std::size_t variable, Output gradient,
                          std::vector<Output>& ends) {
  Output& sum = work.sums[variable];
  sum = sum ? add_node(add_n_op(), {sum, gradient}) : gradient;
  const auto rows = indexed_slices(gradient);
  for (const IndexedSlices& part : rows) ends.insert(ends.end(), {part.values, part.indices});
  if (rows.empty()) ends.push_back(sum);
}

// The gradients of penalties come last, once for all micro-batches.
void MicroBatches::add_penalties() {
  for (std::size_t i = 0; i < stages_.size(); ++i)
    for (std::size_t v = stages_[i].first_variable; v < stages_[i].last_variable; ++v) {
      const auto& entry = model_.variables.entries[v];
      if (!entry.regularizer) continue;
      const Output penalty = model_.graph.on(model_.stages[i].device, [&] {
        const Output value = if_it_has_data(penalty_of(entry), model_.has_data);
        if (!entry.trained) return value;
        if (const Output gradient = actorflow::gradients(value, {entry.variable})[0]) {
          Output& sum = stages_[i].sums[v];
          sum = sum ? add_node(add_n_op(), {sum, gradient}) : gradient;
        }
        return value;
      });
      measured_.loss =
          model_.graph.on(model_.stages.back().device, [&] { return measured_.loss + penalty; });
    }
}

// Means count by examples; sums of a micro-batch without examples do not count.
void MicroBatches::add_measured() {
  model_.graph.on(model_.stages.back().device, [&] {
    Output examples;
    for (const auto& each : micro_batches_) {
      measured_.loss = measured_.loss ? measured_.loss + each->loss : each->loss;
      examples = examples ? examples + each->feeds.examples : each->feeds.examples;
    }
    for (std::size_t i = 0; i < model_.options.metrics.size(); ++i) {
      const bool is_sum = static_cast<bool>(model_.options.metrics[i].result);
      Output total;
      for (const auto& each : micro_batches_) {
        const Output value = cast(each->metrics[i], DType::float64) *
                             times_of(model_.options.metrics[i], each->feeds.examples);
        total = total ? total + value : value;
      }
      measured_.metrics.push_back(is_sum ? total : total / maximum(examples, ones_like(examples)));
    }
  });
}

}  // namespace actorflow
