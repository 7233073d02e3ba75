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

// StopAtStepHook: ends training when the global step has reached `last_step`, also if it has when a
// session is made. Synchronous replicas need the hook sync_replicas(), too, which knows when others,
// which wait for nobody at the end, have left a replica behind. `first_step`: the global step from which
// the last one is counted, asked for when a session was made and after each step; none: 0.
HookRef stop_at_step(std::int64_t last_step, std::function<std::int64_t()> first_step = {});
// Ends training `steps` after the step at which the first session found the model.
HookRef stop_after_steps(std::int64_t steps);

// A listener of checkpoint_saver(). (CheckpointSaverListener.)
class CheckpointListener {
 public:
  virtual ~CheckpointListener() = default;
  virtual void before_save(Session&, std::int64_t /*global_step*/) {}
  virtual void after_save(Session&, std::int64_t /*global_step*/, const std::string& /*path*/) {}
};

// CheckpointSaverHook: saves into `folder` at the first step, then as often as `every` says, and at the
// end. Saver and storage must outlive the hook. An error of the storage is logged, training goes on with
// the earlier checkpoints, and the save is tried again three times, after 1, 2 and 4 s, before its next
// time. At the end saving is tried for `max_wait_secs`, and then the error is thrown. `extra` gives what
// is saved beside the variables.
HookRef checkpoint_saver(const Saver& saver, Storage& storage, std::string folder, Every every,
                         std::vector<std::shared_ptr<CheckpointListener>> listeners = {},
                         double max_wait_secs = 60, std::function<ExtraState()> extra = {});

// StepCounterHook: reports the global steps per second of all replicas together; without `report` it
// logs them.
using StepRate = std::function<void(std::int64_t global_step, double steps_per_second)>;
HookRef step_counter(Every every, StepRate report = {});
// StepCounterHook that writes the scalar "global_step/sec".
HookRef step_counter(Every every, std::shared_ptr<EventWriter> writer);

// SummarySaverHook: writes the graph, then the summaries of each session's first step, and of steps as
// often as `every` says; other steps do not fetch them. Marks in the file where training goes back to a
// checkpoint. `summaries` must outlive the hook. An error of the storage is logged, and training goes
// on.
HookRef summary_saver(const Summaries& summaries, std::shared_ptr<EventWriter> writer, Every every);

// LoggingTensorHook: logs the values under these names at the first step, then as often as `every` says.
// `format` makes the line; by default "name = value, ...".
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
HookRef logging_tensor(std::vector<std::pair<std::string, Output>> tensors, Every every,
                       std::function<std::string(const NamedTensors&)> format = {});

// NanTensorHook: when a float value of `loss` is not finite, training fails as not_finite, or
// stops.
enum class OnNan : std::uint8_t { fail, stop };
HookRef nan_tensor(Output loss, OnNan on_nan = OnNan::fail);

// The hook of SyncReplicasOptimizer, for every kind of replication: brings a replica to the current step
// in each new session. An asynchronous step that is lost and repeated changes each variable once. For
// programs that run one training step at a time.
HookRef sync_replicas(const TrainOp& train);

// FeedFnHook: feeds each step with what `feeds` returns. Before the first step of each session `begin`
// gets the global step from which on to feed.
struct FeedSource {
  std::function<void(std::int64_t global_step)> begin;  // may be empty
  std::function<Feeds()> next;
};
HookRef feed_fn(FeedSource source);

// FinalOpsHook: runs these when training ends without error, and passes on their values.
HookRef final_ops(std::vector<Output> fetches, std::function<void(const std::vector<Tensor>&)> values,
                  Feeds feeds = {});

// ProfilerHook: records a step as often as `every` says, and writes it as `folder`/timeline-<step>.json,
// which chrome://tracing and Perfetto show.
HookRef profiler(Every every, std::string folder);

// GlobalStepWaiterHook: the first step of this replica waits until the global step is reached.
HookRef global_step_waiter(std::int64_t global_step);

}  // namespace actorflow
