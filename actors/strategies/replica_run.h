// Between-graph replication: what every replica of a training cluster does around its program.
//
// Each replica builds the same graph, with the variables on parameter servers in turn, or, with
// AllReduce, on its own task, and trains it on its share of the batches, through its own server, until
// the last step is reached. The chief also restores or initialises the variables, saves, and ends the
// job. Any task may be lost and restarted: training goes on from the newest checkpoint (after the loss
// of a worker: from where it was).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/monitored/monitored_session.h"
#include "actors/monitored/step_timer.h"
#include "actors/strategies/replica_settings.h"
#include "actors/task/server.h"
#include "dataflow/cluster/task_config.h"
#include "dataflow/train/replicate.h"
#include "dataflow/train/strategy.h"

namespace actorflow {

class ElasticTask;

// The options, the same for every replica.
struct ReplicaOptions {
  Strategy strategy = Asynchronous{};  // of Synchronous, the initial tokens follow from the replicas
  NotFinite not_finite = NotFinite::fail;
  int max_rollbacks = 0;         // for values that are not finite, before training fails
  std::int64_t train_steps = 0;  // the global step at which training ends, see ReplicaNodes::first_step
  // The tasks in a row that compute one replica together. The first runs it, the others serve.
  int tasks_per_replica = 1;

  // The device that computes in each replica's task, such as "gpu:0". A CPU for "", and in a task
  // without that device.
  std::string device{};

  std::string ps_job = "ps";                // the tasks that hold the variables; not with AllReduce
  std::string ps_strategy = "round_robin";  // see make_ps_strategy()
  std::string checkpoint_folder{};          // "" = none
  bool strict_restore = false;              // see MonitoredOptions
  Every save_checkpoint{0, 600};            // and at the end
  int max_to_keep = 5;                      // checkpoints; 0 = all
  std::int64_t longest_hold_ms = 10'000;    // see MonitoredOptions
  // Marks the end of training in the checkpoint folder (monitored/training_end.h): tasks that are
  // restarted after it end at once, where they would wait for the others.
  bool mark_end = false;
  std::int64_t connect_timeout_ms = 60'000;
};

// What a replica computes in each step.
struct ReplicaNodes {
  TrainOp train;
  Output loss;                  // scalar
  std::vector<Output> fetches;  // handed to ReplicaProgram::after_step()
  std::vector<Output> targets;
  // int64 scalar: the global step from which ReplicaOptions::train_steps count; none: 0.
  Output first_step{};
};

// A training program. Called by the thread of run_replica() only.
class ReplicaProgram {
 public:
  virtual ~ReplicaProgram() = default;
  // Adds the model and its training to the graph, once. Devices are set: variables go to parameter
  // servers, all else to the replica. With AllReduce a step changes variables only by
  // ReplicaNodes::train and by what with_step() has made of assignments (replicated_state.h).
  virtual ReplicaNodes build(Graph& graph, const Replication& replication) = 0;
  // What all replicas must have in common, besides the ReplicaOptions.
  virtual ReplicaSettings settings() const { return {}; }
  // Adds what the program wants besides: hooks, summaries, an initial value.
  virtual void prepare(MonitoredOptions&) {}
  // The value of ReplicaNodes::first_step, in each new session before begin().
  virtual void count_from(std::int64_t /*first_step*/) {}
  // The next step works on this global step: at the start, after a recovery, and when a replica was
  // behind.
  virtual void begin(Session& session, std::int64_t global_step) = 0;
  // Before each step that is going to be made. The chief ends the job by false, which is not for the
  // first step of a training: variables that other tasks initialise are there after it.
  virtual bool before_step(Session&) { return true; }
  // The feeds of the step.
  virtual Feeds next() = 0;
  // After each step; `values` are those of the fetches. The chief ends the job by false. What is thrown
  // here or by begin() counts as an error of the step: the loss of a task leads to a recovery, and to
  // begin().
  virtual bool after_step(Session& session, std::int64_t global_step,
                          std::span<const Tensor> values) = 0;
  // Whether replicas that step alone (AllReduce::local_steps) agree after this step, too: the same for
  // all.
  virtual bool ends_round(std::int64_t) const { return false; }
  // The last step is done, and other replicas may still be at theirs. May come again after a recovery.
  virtual void on_last_step(Session&) {}
  // At the chief, when all replicas have ended, before the last checkpoint. Returns whether variables
  // have changed since the last step, so that a checkpoint of that step lacks something.
  virtual bool before_last_save(Session&) { return false; }
  // At the chief, when all replicas have ended and the variables are final.
  virtual void finish(Session&) {}
  // At a chief that was interrupted, which has saved: what it changes is in no checkpoint, from which
  // training may go on. Not called if its server was stopped meanwhile.
  virtual void on_interrupt(Session&) {}
};

enum class ReplicaEnd : std::uint8_t {
  complete,     // of the chief: finish() was called
  left,         // of other replicas, and where training was complete before it began
  interrupted,  // `interrupted` became true, and this is the chief: it has saved, on_interrupt() was
                // called, and the job has ended; of an elastic job any replica, and the others go on
  world_over,   // of an elastic job: the task has kept the values, and trains on in the next world
};

// Runs the replica of `server`. Throws Error with the root cause if training fails. A chief that fails
// for another reason than the loss of a task ends the job, and every other task fails for the same
// reason; so does any replica whose values are not finite, where steps are synchronous, and one without
// which no step ends, unless it may do better when it is started again, as after the loss of a task or
// on a disk that is mended. `elastic`: the server is that of a world of an elastic job, whose end is an
// end of the replica, too, and which goes on without one that fails; the strategy must be AllReduce.
ReplicaEnd run_replica(Server& server, ReplicaProgram& program, const ReplicaOptions& options,
                       const std::atomic<bool>& interrupted, ElasticTask* elastic = nullptr);

// The task's place among the replicas. Throws invalid_argument as TaskConfig does.
TaskConfig replica_config(const Server& server, const ReplicaOptions& options);

// Runs a task that is no replica, such as a parameter server, until the job is over, or if it was
// completed while this task was away. Returns the reason. Throws the error of the job if the chief
// reports one. `given`: what this task was told of the settings of the replicas, by their names; those
// that differ are refused when the task meets the chief, as those of a replica are.
std::string serve_parameters(Server& server, const ReplicaOptions& options,
                             const ReplicaSettings& given = {});

}  // namespace actorflow
