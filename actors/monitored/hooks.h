// The hooks that come with monitored sessions, by the names of distributed TensorFlow. Each is a file in
// hooks/; REQUIRES for all: outputs are of the session's graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/checkpoint/saver.h"
#include "actors/events/event_writer.h"
#include "actors/events/summaries.h"
#include "actors/monitored/hook.h"
#include "actors/monitored/step_timer.h"
#include "actors/runtime/storage.h"
#include "dataflow/train/replicate.h"

namespace actorflow {

using HookRef = std::shared_ptr<SessionHook>;

// StopAtStepHook: ends training when the global step has reached `last_step`, also if it stands there
// when a session is made. Synchronous replicas need the hook sync_replicas(), too: it knows when one was
// left behind by others, who wait for nobody at the end.
HookRef stop_at_step(std::int64_t last_step);
// The same, `steps` after the step at which the first session found the model.
HookRef stop_after_steps(std::int64_t steps);

// Told by checkpoint_saver(). (CheckpointSaverListener.)
class CheckpointListener {
 public:
  virtual ~CheckpointListener() = default;
  virtual void before_save(Session&, std::int64_t /*global_step*/) {}
  virtual void after_save(Session&, std::int64_t /*global_step*/, const std::string& /*path*/) {}
};

// CheckpointSaverHook: saves into `folder` at the first step, then as often as `every` says, and at the
// end. Saver and storage must outlive the hook. An error of the storage is logged, training goes on
// with the earlier checkpoints, and the save is tried again three times, after 1, 2 and 4 s, before its next
// time. At the end it is tried for `max_wait_secs`, and then comes out.
HookRef checkpoint_saver(const Saver& saver, Storage& storage, std::string folder, Every every,
                         std::vector<std::shared_ptr<CheckpointListener>> listeners = {},
                         double max_wait_secs = 60);

// StepCounterHook: hands on how many global steps a second there were, of all replicas together; without
// `report` it logs them.
using StepRate = std::function<void(std::int64_t global_step, double steps_per_second)>;
HookRef step_counter(Every every, StepRate report = {});
// Writes them as the scalar "global_step/sec".
HookRef step_counter(Every every, std::shared_ptr<EventWriter> writer);

// SummarySaverHook: writes the graph, then the summaries of each session's first step, and of steps as
// often as `every` says; those of others are not fetched. Readers are told where training goes back to a
// checkpoint. `summaries` must outlive the hook. An error of the storage is logged, and training goes on.
HookRef summary_saver(const Summaries& summaries, std::shared_ptr<EventWriter> writer, Every every);

// LoggingTensorHook: logs the values under these names at the first step, then as often as `every` says.
// `format` makes the line, without it "name = value, ...".
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
HookRef logging_tensor(std::vector<std::pair<std::string, Output>> tensors, Every every,
                       std::function<std::string(const NamedTensors&)> format = {});

// NanTensorHook: when a float value of `loss` is not finite, training fails as not_finite, or
// stops.
enum class OnNan : std::uint8_t { fail, stop };
HookRef nan_tensor(Output loss, OnNan on_nan = OnNan::fail);

// The hook of SyncReplicasOptimizer, for every kind of replication: makes a replica current in each new
// session. An asynchronous step that is lost and made again changes each variable once. For a graph that
// trains in one step at a time.
HookRef sync_replicas(const TrainOp& train);

// FeedFnHook: feeds each step with what `feeds` returns. It is told, before the first step of each
// session, the global step from which on to feed.
struct FeedSource {
  std::function<void(std::int64_t global_step)> begin;  // may be empty
  std::function<Feeds()> next;
};
HookRef feed_fn(FeedSource source);

// FinalOpsHook: runs these when training ends well, and hands on their values.
HookRef final_ops(std::vector<Output> fetches, std::function<void(const std::vector<Tensor>&)> values,
                  Feeds feeds = {});

// ProfilerHook: records a step as often as `every` says, and writes it as `folder`/timeline-<step>.json,
// which chrome://tracing and Perfetto show.
HookRef profiler(Every every, std::string folder);

// GlobalStepWaiterHook: the first step of this replica waits until the global step is that far.
HookRef global_step_waiter(std::int64_t global_step);

}  // namespace actorflow
