#include "actors/models/fit/pipeline_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <memory>

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
