#include "actors/jobs/engine/job_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <caf/actor_system.hpp>
#include <utility>

#include "actors/jobs/engine/stage_coordinator.h"
#include "actors/runtime/runtime.h"
#include "actors/runtime/scheduler.h"
#include "actors/runtime/thread_unit.h"

namespace actorflow {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
// A part's table, the chunk that it fills, the one that it hands over and what it reads.
constexpr std::size_t least_part_bytes = 24 * mib;
constexpr std::size_t most_chunk_bytes = 16 * mib;

std::size_t slots_of(Runtime& runtime, std::size_t wanted) {
  return wanted > 0
             ? wanted
             : static_cast<std::size_t>(std::max(1, TaskScheduler::of(runtime.system()).helpers()));
}

// Half of the memory is for parts at work, half for what they hand over.
std::size_t part_bytes_of(std::size_t memory_bytes, std::size_t slots) {
  const std::size_t bytes = memory_bytes / 2 / slots;
  if (bytes < least_part_bytes)
    throw invalid_argument(fmt::format(
        "--memory of {} MiB is too little for {} parts at a time: each needs {} MiB, and as much is "
        "kept for "
        "what they hand over; give at least {} MiB, or fewer threads",
        memory_bytes / mib, slots, least_part_bytes / mib, 2 * slots * least_part_bytes / mib));
  return bytes;
}

}  // namespace

JobEngine::JobEngine(std::shared_ptr<Runtime> runtime, const JobEngineOptions& options)
    : runtime_(std::move(runtime)),
      options_(options),
      slots_(slots_of(*runtime_, options.slots)),
      tools_{runtime_->storage(),
             std::make_shared<ChunkStore>(
                 runtime_->storage(),
                 ChunkStoreOptions{options.records_on_disk ? 0 : options.memory_bytes / 2,
                                   options.spill_folder, options.spill_bytes}),
             part_bytes_of(options.memory_bytes, slots_),
             std::min(most_chunk_bytes, part_bytes_of(options.memory_bytes, slots_) / 8), stopped_} {}

JobEngine::~JobEngine() = default;

Storage& JobEngine::storage() { return runtime_->storage(); }

std::vector<PartOutcome> JobEngine::run(StageSpec stage) {
  Status status;
  std::vector<PartOutcome> outcomes;
  runtime_->wait([&](Waker& waker) {
    const SystemVisit visit;
    StageOrder order{.stage = std::make_shared<const StageSpec>(std::move(stage)),
                     .tools = tools_,
                     .slots = slots_,
                     .take_skip =
                         [this] {
                           if (skipped_ >= options_.skip_bad_records) return false;
                           ++skipped_;
                           return true;
                         },
                     .clock = runtime_->clock(),
                     .reporter = options_.reporter,
                     .reply =
                         [&](Status result, std::vector<PartOutcome> made) {
                           status = std::move(result);
                           outcomes = std::move(made);
                           waker.wake();
                         }};
    runtime_->system().spawn(stage_coordinator_actor, std::move(order));
  });
  throw_if_error(status);
  return outcomes;
}

}  // namespace actorflow
