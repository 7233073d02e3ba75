#include "dataflow/train/pipeline_schedule.h"

#include <algorithm>
#include <cstddef>

#include "dataflow/values/check.h"

namespace actorflow {
namespace {

// The passes of one stage, in its order.
std::vector<PipelinePass> passes_of(int stage, PipelineSchedule schedule, int stages,
                                    int micro_batches) {
  const int ahead =
      schedule == PipelineSchedule::gpipe ? micro_batches : std::min(stages - stage, micro_batches);
  std::vector<PipelinePass> passes;
  for (int i = 0; i < ahead; ++i) passes.push_back({stage, i, false});
  for (int i = 0; i < micro_batches; ++i) {
    passes.push_back({stage, i, true});
    if (i + ahead < micro_batches) passes.push_back({stage, i + ahead, false});
  }
  return passes;
}

// The pass that gives this one its tensors. REQUIRES: it is not the first pass of its micro-batch.
PipelinePass before(const PipelinePass& pass, int stages) {
  if (!pass.backward) return {pass.stage - 1, pass.micro_batch, false};
  if (pass.stage == stages - 1) return {pass.stage, pass.micro_batch, false};
  return {pass.stage + 1, pass.micro_batch, true};
}

bool is_first(const PipelinePass& pass) { return !pass.backward && pass.stage == 0; }

}  // namespace

std::vector<PipelinePass> pipeline_passes(PipelineSchedule schedule, int stages, int micro_batches) {
  ACTORFLOW_CHECK(stages >= 1 && micro_batches >= 1, stages, "stages,", micro_batches, "micro-batches");
  std::vector<std::vector<PipelinePass>> waiting;
  for (int stage = 0; stage < stages; ++stage)
    waiting.push_back(passes_of(stage, schedule, stages, micro_batches));
  std::vector<std::size_t> next(waiting.size());
  std::vector<PipelinePass> all;
  const auto is_made = [&](const PipelinePass& pass) {
    return is_first(pass) || std::ranges::find(all, before(pass, stages)) != all.end();
  };
  const auto expected = static_cast<std::size_t>(2 * stages * micro_batches);
  while (all.size() < expected) {
    const std::size_t done = all.size();
    for (std::size_t stage = 0; stage < waiting.size(); ++stage)
      if (next[stage] < waiting[stage].size() && is_made(waiting[stage][next[stage]]))
        all.push_back(waiting[stage][next[stage]++]);
    ACTORFLOW_CHECK(all.size() > done, "the passes of a pipeline wait for each other");
  }
  return all;
}

std::string_view to_string(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::gpipe ? "gpipe" : "1f1b";
}

}  // namespace actorflow
