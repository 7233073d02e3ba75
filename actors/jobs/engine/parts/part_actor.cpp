#include "actors/jobs/engine/parts/part_actor.h"

#include <fmt/format.h>

#include <caf/send.hpp>
#include <utility>

#include "actors/jobs/engine/parts/operator_failure.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {

PartRunner::PartRunner(GuardedActor* self, PartAssignment assignment, caf::actor agent)
    : self_(self),
      assignment_(std::move(assignment)),
      work_{fmt::format("part {} of the stage '{}'", assignment_.id.part, assignment_.stage->name),
            assignment_.task ? assignment_.task->self.name.to_string() : ""},
      agent_(std::move(agent)),
      part_(std::in_place, assignment_.tools, assignment_.id.part, assignment_.skips,
            *assignment_.progress, assignment_.cancelled, assignment_.chunk_file) {}

caf::behavior PartRunner::behavior() {
  self_->introduce("part", assignment_.task ? &assignment_.task->self.name : nullptr);
  caf::anon_send(self_, Tick{});
  return guarded(
      self_, this,  //
      [this](Tick) { run(); }, [this](CommitAttempt) { commit(); });
}

void PartRunner::run() {
  AttemptRan ran{assignment_.id, {}, {}, {}};
  const auto began = assignment_.clock->now();
  try {
    const Computing computing(work_);
    if (assignment_.made)
      part_->take_over(*assignment_.made);
    else
      part_->run(assignment_.stage->body);
  } catch (const OperatorFailure& failure) {
    ran.status = failure.status();
    ran.bad_record = part_->bad_record();
    ran.bad_place = failure.place();
  } catch (const LostRecords& lost) {
    ran.status = lost.status();
    ran.lost = lost.slices;
  } catch (const StorageError& refused) {
    ran.status = refused.status();
    ran.of_disk = true;
  }
  assignment_.progress->busy_ns += std::chrono::nanoseconds(assignment_.clock->now() - began).count();
  if (!ran.status.ok()) return give_up(std::move(ran));
  caf::anon_send(agent_, std::move(ran));
}

void PartRunner::refuse(Tick, Status why) {
  give_up(AttemptRan{assignment_.id, std::move(why), {}, {}});
}

// Files in the making go first: who hears of the failure may begin to write there again.
template <class Failed>
void PartRunner::give_up(Failed why) {
  part_.reset();
  caf::anon_send(agent_, std::move(why));
  self_->quit();
}

void PartRunner::commit() {
  AttemptMade made;
  made.id = assignment_.id;
  try {
    part_->commit();
  } catch (const StorageError& refused) {
    made.status = refused.status();
    made.of_disk = true;
    return give_up(std::move(made));
  }
  made.product = part_->take_product();
  caf::anon_send(agent_, std::move(made));
  self_->quit();
}

void PartRunner::refuse(CommitAttempt, Status why) {
  AttemptMade made;
  made.id = assignment_.id;
  made.status = std::move(why);
  give_up(std::move(made));
}

caf::behavior part_actor(PartActor* self, PartAssignment assignment, caf::actor agent) {
  self->state = std::make_unique<PartRunner>(self, std::move(assignment), std::move(agent));
  return self->state->behavior();
}

}  // namespace actorflow
