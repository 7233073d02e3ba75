// A step that a master has under way: what each part of it does, and what has come of it so far.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/core/messages.h"
#include "actors/core/step_tracer.h"
#include "actors/runtime/clock.h"

namespace actorflow {

// The part of a step that one task runs, with the task's handle of it.
struct RegisteredPart {
  TaskId task{};
  std::uint64_t incarnation = 0;   // 0 until registered
  std::uint64_t handle = 0;        // 0 until registered
  std::vector<std::int32_t> args;  // the feeds that it takes, by position
  bool begins_ahead = false;       // begins a next step by itself, if it is to (begun_ahead.h)
};
using Parts = std::vector<RegisteredPart>;

// A step whose plan is ready.
struct StepRequest {
  std::string session;
  std::vector<Tensor> feeds;  // in the plan's order
  std::size_t fetches = 0;
  std::int64_t timeout_ms = 0;  // 0 = none
  FencingEpoch epoch = 0;
  bool trace = false;
  bool changes_variables = true;
};

// A value, which sends nothing: RunningSteps does. Parts are numbered as in the plan.
//
// A step is asked for by a client, or it is begun ahead: parts that can begin it by themselves run, the
// others do not know of it, and a client may ask for it later. It is over when no part runs.
class RunningStep {
 public:
  enum class PartState : std::uint8_t { untold, running, ended };

  // All parts are untold.
  RunningStep(std::shared_ptr<const Parts> parts, const StepRequest& request);

  // The parts that begin ahead run from now on, with nobody who waits for them. False if there are none.
  bool begin_ahead();
  // A client asks for the step: the parts that are untold run from now on, too.
  void ask(MasterReplyFn reply);
  void trace_from(Clock::time_point now) { tracer_ = std::make_unique<StepTracer>(now); }

  const std::string& session() const { return session_; }
  const Parts& parts() const { return *parts_; }
  bool changes_variables() const { return changes_variables_; }
  bool is_asked_for() const { return static_cast<bool>(reply_); }
  bool is_over() const { return running_ == 0; }
  bool runs(std::size_t part) const { return states_[part] == PartState::running; }
  std::optional<std::size_t> part_of(TaskId task) const;
  StepTracer* tracer() { return tracer_.get(); }  // null unless the step is traced

  // Takes what a part has computed for the client.
  void add_fetches(StepDone& results);
  // A part may end twice: after its end it may learn that a tensor it sent was lost.
  void end(std::size_t part);
  // Keeps the root error: the first one, but none that is only a consequence hides another.
  void fail(const Status& reason);
  // Calls `stop` with each part that must be told that the step has failed. If that throws, the next
  // call goes on with the same part. Of a step without a client these are all parts: those that do not
  // run may keep tensors for it.
  template <class Stop>
  void stop_parts(Stop&& stop) {
    for (; stopped_ < states_.size(); ++stopped_)
      if (runs(stopped_) || !is_asked_for()) stop((*parts_)[stopped_]);
  }

  // What the client gets, and who takes it: nobody if no client has asked. REQUIRES: the step is over.
  MasterReply take_answer();
  MasterReplyFn take_reply() { return std::move(reply_); }

  // Belong to StepDeadlines.
  std::int64_t timeout_ms = 0;                // 0: none
  Clock::time_point deadline = Clock::never;  // never: none, or it is over

 private:
  void run(std::size_t part);

  std::string session_;
  std::shared_ptr<const Parts> parts_;
  std::vector<PartState> states_;
  std::size_t running_ = 0;  // parts
  bool changes_variables_;
  MasterReplyFn reply_;  // empty as long as no client has asked for the step
  Status status_;
  std::size_t stopped_ = 0;  // of a failed step: parts before this one have been told
  std::vector<Tensor> fetches_;
  std::unique_ptr<StepTracer> tracer_;
};

}  // namespace actorflow
