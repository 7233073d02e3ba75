// What a coordinator says to an agent, and reports, is there to be seen.
#pragma once

#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <memory>
#include <utility>

#include "actors/jobs/engine/job_coordinator.h"
#include "test/schema/support/tasks.h"

namespace actorflow::test {

using FromTask = actorflow::Sender;

struct Inbox {
  Mailbox<RunPart> run;
  Mailbox<AcceptPart> accepted;
  Mailbox<StageDone> done;
};

// The agent of a task.
struct AnAgent {
  GuardedActor* self;
};
using AnAgentActor = caf::stateful_actor<std::unique_ptr<AnAgent>, ComputingActor>;

inline caf::behavior agent_actor(AnAgentActor* self, Inbox* inbox) {
  self->state = std::make_unique<AnAgent>(self);
  return guarded(
      self, self->state.get(),
      [inbox](const FromTask&, RunPart& run) { inbox->run.put(std::move(run)); },
      [inbox](const FromTask&, AcceptPart& part) { inbox->accepted.put(std::move(part)); },
      [](const FromTask&, const CancelPart&) {},
      [inbox](const FromTask&, StageDone& done) { inbox->done.put(std::move(done)); });
}

class Reports final : public JobReporter {
 public:
  void report(const StageReport& report) override {
    if (report.is_last) last.put(report);
  }
  Mailbox<StageReport> last;
};

// A stage of two parts, the last of its job: what they make stays if their task is lost.
inline StageSpec last_stage() {
  StageSpec spec;
  spec.name = "write";
  spec.parts = 2;
  return spec;
}

}  // namespace actorflow::test
