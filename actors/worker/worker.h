// The worker of a task: it keeps the partitions that masters have registered, and runs them.
#pragma once

#include <caf/stateful_actor.hpp>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "actors/core/executable.h"
#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/core/task_recorder.h"
#include "actors/runtime/thread_affinity.h"
#include "actors/worker/node_messages.h"
#include "actors/worker/recent_steps.h"

namespace actorflow {

// Any number of steps of a graph run at once, each on a free runner: a lane, or a conductor of node
// actors. When a task is lost, the steps and graphs of its master are dropped. A repeated request is
// carried out once: graphs are identified by (master, request), steps by their id.
//
// Where a master says so, a step that has ended without an error is followed by the next one as soon as
// the shard has made its updates. The master, which has asked for it once for all, gets an answer for
// each, together with what the next step sends first: one delivery in place of two.
class Worker {
 public:
  Worker(GuardedActor* self, TaskRef task, std::shared_ptr<TaskRecorder> recorder)
      : self_(self), task_(std::move(task)), recorder_(std::move(recorder)) {}

  caf::behavior behavior();
  void refuse(const Sender& from, const RegisterGraph& message, const Status& why);
  void refuse(const Sender& from, const RunGraph& message, Status why);
  void refuse(const UpdatesMade& message, Status why);
  void refuse(const EndOfRecord& message, Status why);

 private:
  struct Registered {
    std::shared_ptr<const Executable> executable;
    Executor executor = Executor::lanes;
    Sender master;
    std::uint64_t request = 0;
    std::vector<caf::actor> free_runners{};
    std::deque<StepId> last_steps{};  // ended steps, as many as could be under way elsewhere
  };
  struct Running {
    caf::actor runner;
    Sender master;
    std::uint64_t graph = 0;
    std::shared_ptr<const Executable> executable{};
    FencingEpoch epoch = 0;
    bool goes_on = false;  // the next step follows
  };
  // A step that begins when the updates of the one before have been made.
  struct Next {
    Sender master;
    std::uint64_t graph = 0;
    FencingEpoch epoch = 0;
    std::optional<StepDone> done_before;  // the end of that one, until the master has been told
  };

  void on_register(const Sender& from, RegisterGraph& message);
  void spawn_nodes(const std::shared_ptr<Executable>& executable);
  // The handle for a request that was received before; 0 if it was not.
  std::uint64_t handle_of(const Sender& from, std::uint64_t request) const;
  void on_run(const Sender& from, RunGraph& message);
  void run(const Sender& from, Registered& graph, RunGraph& message);
  caf::actor spawn_runner(const Registered& graph);
  void refuse_step(const Sender& from, StepId step, Status reason);
  void on_abort(const AbortStep& message);
  void on_undelivered(const Sender& from, Undelivered& message);
  void on_unclaimed(const Unclaimed& message);
  void on_idle(LaneIdle& message);
  void prepare(StepId step, const Running& before, std::optional<StepDone> done);
  void tell_of_end(Next& next);
  void on_updates(const UpdatesMade& message);
  void on_peer_lost(const PeerLost& message);
  void report_lost_tensors(const PeerLost& message);
  void record(const StateCall& call);

  GuardedActor* self_;
  TaskRef task_;
  std::shared_ptr<TaskRecorder> recorder_;
  std::map<std::uint64_t, Registered> graphs_;
  std::map<StepId, Running> running_;
  std::map<StepId, Next> next_;
  std::map<StepId, Sender> announced_;  // steps that are to come, and their masters
  RecentSteps ended_{1024};
  RecentSteps aborted_early_{1024};  // aborted before their RunGraph
};

using WorkerActor = caf::stateful_actor<std::unique_ptr<Worker>, LightActor>;
caf::behavior worker_actor(WorkerActor* self, TaskRef task, std::shared_ptr<TaskRecorder> recorder);

}  // namespace actorflow
