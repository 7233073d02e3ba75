// The settings of a fit() that all its replicas must share, besides those of their strategy.
#pragma once

#include <memory>
#include <string>

#include "actors/models/model_graph.h"
#include "actors/strategies/replica_settings.h"

namespace actorflow {

// What the model is and how it learns. A function is told by its name, which may be that of others, and
// by a hash of the nodes that it makes, such as #9a3f01c2. REQUIRES: the nodes can test and train.
ReplicaSettings settings_of_model(const ModelGraph& nodes, const Architecture& architecture,
                                  const CompileOptions& compile);

// A hash of the first and the last example of tensors; "unknown" of a dataset, which may read or draw
// them anew in each pass.
std::string describe_examples(const TrainingData& data, std::shared_ptr<Runtime> runtime);

}  // namespace actorflow
