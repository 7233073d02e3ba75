// What a coordinator says to an agent, and reports, is there to be seen.
#pragma once

#include <atomic>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "actors/core/await_end.h"
#include "actors/jobs/engine/coordinator/job_coordinator.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/runtime.h"
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

inline caf::actor spawn_coordinator(Runtime& runtime, const std::shared_ptr<JobMail>& mail,
                                    std::shared_ptr<const std::atomic<bool>> stopped, Reports& reports,
                                    Clock& clock = steady_clock()) {
  return runtime.system().spawn(job_coordinator_actor, CoordinatorOrder{.mail = mail,
                                                                        .history = {},
                                                                        .terms = {},
                                                                        .build = {},
                                                                        .stopped = std::move(stopped),
                                                                        .clock = clock,
                                                                        .reporter = &reports});
}

inline void begin_stage(const JobMail& mail, StageNumber number, StageSpec spec) {
  caf::anon_send(mail.coordinator,
                 CoordinateStage{number, 1, std::make_shared<const StageSpec>(std::move(spec))});
}

// Ends the actors of a coordinator and of its agents.
inline void end_actors(Runtime& runtime, JobMail& mail, const std::vector<caf::actor>& actors) {
  await_end(runtime, actors, [&] {
    for (const auto& actor : actors) caf::anon_send_exit(actor, caf::exit_reason::kill);
  });
  mail.agent = mail.coordinator = nullptr;
}

// A stage of two parts, the last of its job: what they make stays if their task is lost.
inline StageSpec last_stage() {
  StageSpec spec;
  spec.name = "write";
  spec.parts = 2;
  return spec;
}

}  // namespace actorflow::test
