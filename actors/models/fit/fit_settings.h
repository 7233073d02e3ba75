// The settings of a fit() that all its tasks must share, besides those of their data.
#pragma once

#include <memory>
#include <string>

#include "actors/models/model.h"
#include "actors/models/model_graph.h"
#include "actors/strategies/replica_run.h"
#include "actors/strategies/replica_settings.h"

namespace actorflow {

// What the model is and how it learns. A function is told by its name, which may be that of others, and
// by a hash of the nodes that it makes, such as #9a3f01c2. REQUIRES: the nodes can test and train.
ReplicaSettings settings_of_model(const ModelGraph& nodes, const CompileOptions& compile);

// What the program says of it besides: values, which need no graph.
ReplicaSettings settings_of_program(const FitOptions& options, const Architecture& architecture,
                                    const CompileOptions& compile);

// What a task knows of all these that makes no graph and reads no data, such as a parameter server.
ReplicaSettings settings_of_server(const FitOptions& options, const Architecture& architecture,
                                   const CompileOptions& compile, const ReplicaOptions& replica);

// A hash of the first and the last example of tensors; "unknown" of a dataset, which may read or draw
// them anew in each pass.
std::string describe_examples(const TrainingData& data, std::shared_ptr<Runtime> runtime);

}  // namespace actorflow
