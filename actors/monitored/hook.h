// Hooks: what a monitored session calls around its steps. A hook of your own overrides what it needs.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "actors/client/session.h"
#include "actors/runtime/runtime.h"
#include "dataflow/graph/graph.h"

namespace actorflow {

// What a monitored session works with. Hooks may add to it before the first session is made.
struct Scaffold {
  Graph& graph;
  Variable global_step;
  // Run in every new session, when the shared variables have a value. The variables that they assign
  // are this replica's own: nobody initialises or restores them.
  std::vector<Output> local_init;
  // TrainOp::step, of a program whose hooks know it.
  Output train_step{};
};

// What a hook wants from the next step, besides what the program asks for.
struct RunArgs {
  std::vector<Output> fetches{};
  Feeds feeds{};
  bool trace = false;  // record every node
};

class RunContext {
 public:
  // `made`: of each node, whether the step makes it for the program. Outlives this.
  RunContext(Session& session, Runtime& runtime, const std::vector<bool>& made)
      : session_(session), runtime_(runtime), made_(made) {}

  // Around a step: whether what the program asks for, fetches and targets, needs this.
  bool makes(const Output& output) const {
    return output && static_cast<std::size_t>(output.edge.node) < made_.size() &&
           made_[static_cast<std::size_t>(output.edge.node)];
  }
  // For steps of the hook's own; no hooks are called around them.
  Session& session() const { return session_; }
  // A hook asks these for the time, and sleeps with runtime().sleep(), so that it can be simulated.
  Runtime& runtime() const { return runtime_; }
  Clock::time_point now() const { return runtime_.clock().now(); }
  // In after_run(): what was recorded, if a hook wanted that.
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

// Called by one thread at a time. What a hook throws is treated as if the step had thrown it.
class SessionHook {
 public:
  virtual ~SessionHook() = default;
  // Once, before the first session: the only time at which the graph may grow. The scaffold stays.
  virtual void begin(Scaffold&) {}
  // After a session was made and its variables have values: at first, and after each recovery.
  virtual void after_create_session(RunContext&) {}
  virtual RunArgs before_run(RunContext&) { return {}; }
  // `results` are the values of before_run()'s fetches. Not called if the step failed.
  virtual void after_run(RunContext&, std::span<const Tensor> /*results*/) {}
  // At the end of training, unless it failed.
  virtual void end(Session&) {}
};

using Hooks = std::vector<std::shared_ptr<SessionHook>>;

}  // namespace actorflow
