// Hooks, which a monitored session calls around its steps. A hook of your own overrides what it needs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/runtime/runtime.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// The parts of a monitored session. Hooks may add to them before the first session is made.
struct Scaffold {
  Graph& graph;
  Variable global_step;
  // Nodes that run in every new session, when the shared variables have values. The variables that they
  // assign are this replica's own: the chief does not initialise or restore them.
  std::vector<Output> local_init;
  // TrainOp::step, if a hook knows it.
  Output train_step{};
};

// A hook's additions to the next step.
struct RunArgs {
  std::vector<Output> fetches{};
  Feeds feeds{};
  bool trace = false;  // record every node
};

class RunContext {
 public:
  // `made`: for each node, whether the step computes it for the program. Must outlive this.
  RunContext(Session& session, Runtime& runtime, const std::vector<bool>& made)
      : session_(session), runtime_(runtime), made_(made) {}

  // Around a step: whether the program's fetches and targets need this output.
  bool makes(const Output& output) const {
    return output && static_cast<std::size_t>(output.edge.node) < made_.size() &&
           made_[static_cast<std::size_t>(output.edge.node)];
  }
  // The session, for steps of the hook's own; no hooks are called around them.
  Session& session() const { return session_; }
  // The clock and runtime for a hook, which must sleep by runtime().sleep(), so that it can be
  // simulated.
  Runtime& runtime() const { return runtime_; }
  Clock::time_point now() const { return runtime_.clock().now(); }
  // In after_run(): the trace of the step, if a hook has asked for one.
  const StepTrace& trace() const { return metadata_.trace; }
  RunMetadata& metadata() { return metadata_; }
  // Ends training after this step. Hooks' end() is called, as at every clean end.
  void request_stop() { stop_requested_ = true; }
  bool stop_requested() const { return stop_requested_; }

 private:
  Session& session_;
  Runtime& runtime_;
  const std::vector<bool>& made_;
  RunMetadata metadata_;
  bool stop_requested_ = false;
};

// A hook. Called by one thread at a time. An exception of a hook counts as one of the step.
class SessionHook {
 public:
  virtual ~SessionHook() = default;
  // Once, before the first session: the only time at which the graph may grow. The scaffold stays.
  virtual void begin(Scaffold&) {}
  // Called when a session has been made and its variables have values: at the start, and after each
  // recovery.
  virtual void after_create_session(RunContext&) {}
  virtual RunArgs before_run(RunContext&) { return {}; }
  // `results` are the values of before_run()'s fetches. Not called if the step failed.
  virtual void after_run(RunContext&, std::span<const Tensor> /*results*/) {}
  // The program has changed variables since the last step: MonitoredSession::variables_changed().
  virtual void variables_changed() {}
  // Called at the end of training, unless it failed.
  virtual void end(Session&) {}
};

using Hooks = std::vector<std::shared_ptr<SessionHook>>;

}  // namespace actorflow
