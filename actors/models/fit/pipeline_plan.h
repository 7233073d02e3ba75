// The plan of a pipeline for a fit().
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "actors/models/model.h"
#include "actors/models/model_engine.h"
#include "actors/models/pipeline/micro_batches.h"
#include "actors/models/pipeline/stages.h"
#include "actors/strategies/distribution.h"
#include "dataflow/cluster/cluster_spec.h"

namespace actorflow {

// Throws invalid_argument for options that make no sense.
void check_pipeline(const PipelineOptions& pipeline, const FitOptions& options);

// How each replica divides its part of a batch into micro-batches; none if it takes that as a whole.
// Throws invalid_argument for micro-batches in an asynchronous step.
std::optional<MicroBatchOptions> micro_batches_of(const FitOptions& options, const Strategy& strategy,
                                                  const PipelineOptions* pipeline);

// The stages of one replica. Each group of as many `tasks` as there are stages is a replica; the
// variables of a stage are spread over the tasks that compute it. Throws what cut() throws.
std::vector<ModelStage> stages_on(const std::vector<TaskName>& tasks, int replica,
                                  const PipelineOptions& pipeline, const Architecture& architecture,
                                  const std::vector<TensorType>& inputs);

// The layers before which to cut where the user names none: by PipelineOptions::layer_costs, else by
// measured ones for a micro-batch of `rows` examples, each as `example`, a batch of one. Logs the stages
// with their costs. `building` is held while functions of layers are called. Throws what cut() throws.
std::vector<std::string> choose_cut(const PipelineOptions& pipeline, const ModelEngine& engine,
                                    const ModelEngine::ExampleTypes& types, const Tuple& example,
                                    std::int64_t rows, const std::shared_ptr<Runtime>& runtime,
                                    std::mutex& building);

// For people: the layers of each stage, "dense, dense_1 | dense_2".
std::string describe(const std::vector<ModelStage>& stages, const Architecture& architecture);

// For people: "2 stages, balanced, 4 micro-batches, 1f1b".
std::string describe(const std::optional<PipelineOptions>& pipeline,
                     const std::optional<MicroBatchOptions>& micro_batches);

}  // namespace actorflow
