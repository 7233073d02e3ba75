// The order in which the stages of a pipeline work on the micro-batches of a step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace actorflow {

// With p stages and m micro-batches that cost the same, either order leaves each stage idle for
// (p - 1) / (m + p - 1) of a step.
enum class PipelineSchedule : std::uint8_t {
  // All forward passes, then all backward ones: a stage holds the activations of m micro-batches. (Huang
  // et al., GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism, 2019.)
  gpipe,
  // As soon as a stage can, it follows a forward pass by a backward one: stage s, counted from 0, holds
  // the activations of at most p - s micro-batches. (Narayanan et al., Memory-Efficient
  // Pipeline-Parallel DNN Training, 2021: PipeDream-Flush.)
  one_forward_one_backward,
};

// A pass of a micro-batch through a stage.
struct PipelinePass {
  int stage = 0;
  int micro_batch = 0;
  bool backward = false;

  bool operator==(const PipelinePass&) const = default;
};

// All passes of a step, in an order in which they can be made one after the other: a pass comes after
// the passes that give it tensors, and the passes of a stage are in the order in which the stage makes
// them, which has the micro-batches in their order, forward as well as backward. REQUIRES: both numbers
// are 1 or more.
std::vector<PipelinePass> pipeline_passes(PipelineSchedule schedule, int stages, int micro_batches);

// "gpipe", "1f1b".
std::string_view to_string(PipelineSchedule schedule);

}  // namespace actorflow
