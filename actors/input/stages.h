// Makers of the stages of a dataset. REQUIRES: their arguments have been checked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "actors/input/dataset.h"

namespace actorflow {

using OpenReader = std::function<std::unique_ptr<ElementReader>(const InputContext&)>;

// Sources.
StageRef tensors_stage(Tuple columns);
StageRef reader_stage(OpenReader open, const InputContext& context);
StageRef zip_stage(std::vector<StageRef> inputs, bool equal_lengths, std::string names);
StageRef concatenate_stage(std::vector<StageRef> inputs);
StageRef interleave_stage(std::vector<StageRef> inputs, std::int64_t block_length);

// Stages that change the order or the number of elements.
StageRef shuffle_all_stage(StageRef input, const ShuffleOptions& options);
StageRef shuffle_buffer_stage(StageRef input, const ShuffleOptions& options);
StageRef shard_stage(StageRef input, std::int64_t count, std::int64_t index);
StageRef repeat_stage(StageRef input, std::int64_t passes);
StageRef take_stage(StageRef input, std::int64_t count);
StageRef skip_stage(StageRef input, std::int64_t count);
// The passes of its input from number `first` on, without reading those before.
StageRef later_passes_stage(StageRef input, std::int64_t first);

// Stages that change elements.
StageRef batch_stage(StageRef input, std::int64_t size, const BatchOptions& options);
StageRef map_stage(StageRef input, Dataset::Map function);
StageRef parallel_map_stage(StageRef input, Dataset::Map function, int parallel, Team* team);
StageRef filter_stage(StageRef input, Dataset::Predicate keeps);

}  // namespace actorflow
