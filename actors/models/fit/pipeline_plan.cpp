#include "actors/models/fit/pipeline_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>

#include "actors/input/rows.h"
#include "actors/layers/network_builder.h"
#include "actors/models/pipeline/layer_costs.h"
#include "dataflow/cluster/device_name.h"
#include "dataflow/graph/state_ops.h"
#include "dataflow/train/replica_device_setter.h"
#include "dataflow/values/error.h"

namespace actorflow {
namespace {

// Variables in turn on the places of a stage, all else on that of one replica.
DeviceFunction stage_device(const std::vector<std::string>& places, std::size_t replica) {
  return [places, replica, next = std::make_shared<std::size_t>(0)](const Node& node) {
    if (node.op != &read_variable_op()) return places.at(replica);
    const bool is_placed = DeviceName::parse(node.device).task.has_value();
    return is_placed ? std::string() : places[(*next)++ % places.size()];
  };
}

LayerCosts measured_costs(const PipelineOptions& pipeline, const ModelEngine& engine,
                          const Tuple& example, std::int64_t rows,
                          const std::shared_ptr<Runtime>& runtime, std::mutex& building) {
  std::string why;
  try {
    RowStacker stacker(rows);
    for (std::int64_t row = 0; row < rows; ++row) stacker.add_row(example, 0);
    const std::string device = pipeline.devices.empty() ? "" : pipeline.devices.front();
    return measure_layers(engine.architecture, stacker.take(), engine.compiled(), device, runtime,
                          building);
  } catch (const Error& error) {
    why = error.what();
  } catch (const std::bad_alloc&) {
    why = "out of memory";
  }
  spdlog::warn(
      "pipeline: the layers cannot be measured one by one, so it is cut by their arithmetic: {}", why);
  return {};
}

// Of each layer its name, in the order of the stage.
std::vector<std::string> layers_of(const ModelStage& stage, const Architecture& architecture) {
  std::vector<std::string> names;
  for (const NamedLayer& layer : named_layers(architecture))
    if (std::ranges::find(stage.results, layer.results.front()) != stage.results.end())
      names.push_back(layer.name);
  return names;
}

void log_costs(const std::vector<ModelStage>& stages, const Architecture& architecture,
               const LayerCosts& costs) {
  std::vector<std::string> of_stages;
  for (const ModelStage& stage : stages) {
    double sum = 0;
    for (const std::string& layer : layers_of(stage, architecture)) sum += costs.at(layer);
    of_stages.push_back(fmt::format("{:.3g}", sum));
  }
  spdlog::info("pipeline: stages {} cost {} (measured costs are seconds for a micro-batch)",
               describe(stages, architecture), fmt::join(of_stages, ", "));
}

}  // namespace

void check_pipeline(const PipelineOptions& cut, const FitOptions& options) {
  if (cut.stages < 1 || cut.micro_batches < 1 || cut.replicas < 1)
    throw invalid_argument(
        fmt::format("pipeline: expected 1 or more stages, micro_batches and replicas, got {}, {} and {}",
                    cut.stages, cut.micro_batches, cut.replicas));
  if (!cut.devices.empty() && std::ssize(cut.devices) != cut.stages)
    throw invalid_argument(fmt::format("pipeline: {} stages need a device each, but {} are given",
                                       cut.stages, cut.devices.size()));
  if (options.gradient_accumulation_steps != 1)
    throw invalid_argument(
        fmt::format("pipeline: its {} micro_batches are the parts of a step; leave out "
                    "gradient_accumulation_steps, which are {}",
                    cut.micro_batches, options.gradient_accumulation_steps));
}

std::optional<MicroBatchOptions> micro_batches_of(const FitOptions& options, const Strategy& strategy,
                                                  const PipelineOptions* pipeline) {
  if (pipeline) return MicroBatchOptions{pipeline->micro_batches, pipeline->schedule};
  if (options.gradient_accumulation_steps == 1) return std::nullopt;
  if (!is_synchronous(strategy))
    throw invalid_argument(
        "fit: gradient_accumulation_steps are parts of a synchronous step; asynchronous replicas take "
        "smaller batches instead");
  return MicroBatchOptions{.count = static_cast<int>(options.gradient_accumulation_steps)};
}

std::vector<ModelStage> stages_on(const std::vector<TaskName>& tasks, int replica,
                                  const PipelineOptions& pipeline, const Architecture& architecture,
                                  const std::vector<TensorType>& inputs) {
  auto stages = cut(architecture, inputs, {.stages = pipeline.stages, .before = pipeline.cut_before});
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::string device = pipeline.devices.empty() ? "" : device_in_task(pipeline.devices[i]);
    std::vector<std::string> places;
    for (std::size_t task = i; task < tasks.size(); task += stages.size())
      places.push_back(tasks[task].to_string() + device);
    stages[i].device = stage_device(places, static_cast<std::size_t>(replica));
  }
  return stages;
}

std::vector<std::string> choose_cut(const PipelineOptions& pipeline, const ModelEngine& engine,
                                    const ModelEngine::ExampleTypes& types, const Tuple& example,
                                    std::int64_t rows, const std::shared_ptr<Runtime>& runtime,
                                    std::mutex& building) {
  const auto inputs = engine.types_of_inputs(types.inputs);
  const Architecture& architecture = engine.architecture;
  CutOptions options{.stages = pipeline.stages, .before = {}, .costs = pipeline.layer_costs};
  // Refuses what is impossible, before anything is measured.
  std::unique_lock lock(building);
  auto names = layers_to_cut_before(architecture, inputs, options);
  if (options.costs.empty()) {
    lock.unlock();
    options.costs = measured_costs(pipeline, engine, example, rows, runtime, building);
    lock.lock();
    names = layers_to_cut_before(architecture, inputs, options);
  }
  if (!options.costs.empty()) log_costs(cut(architecture, inputs, options), architecture, options.costs);
  return names;
}

std::string describe(const std::vector<ModelStage>& stages, const Architecture& architecture) {
  std::vector<std::string> texts;
  for (const ModelStage& stage : stages)
    texts.push_back(fmt::format("{}", fmt::join(layers_of(stage, architecture), ", ")));
  return fmt::format("{}", fmt::join(texts, " | "));
}

std::string describe(const std::optional<PipelineOptions>& pipeline,
                     const std::optional<MicroBatchOptions>& micro_batches) {
  if (!micro_batches) return "none";
  const std::string parts =
      fmt::format("{} micro-batches, {}", micro_batches->count, to_string(micro_batches->schedule));
  if (!pipeline) return parts;
  const std::string borders = pipeline->cut_before.empty()
                                  ? "balanced"
                                  : fmt::format("cut before {}", fmt::join(pipeline->cut_before, ", "));
  return fmt::format("{} stages, {}, {}", pipeline->stages, borders, parts);
}

}  // namespace actorflow
