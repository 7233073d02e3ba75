#include "actors/jobs/engine/part_actor.h"

#include <caf/send.hpp>
#include <utility>

#include "actors/jobs/engine/operator_failure.h"
#include "actors/runtime/exception_status.h"

namespace actorflow {

PartRunner::PartRunner(GuardedActor* self, PartAssignment assignment, caf::actor coordinator)
    : self_(self),
      assignment_(std::move(assignment)),
      coordinator_(std::move(coordinator)),
      part_(assignment_.tools, assignment_.attempt.part, assignment_.skips, *assignment_.progress) {}

caf::behavior PartRunner::behavior() {
  self_->introduce("part", nullptr);
  caf::anon_send(self_, Tick{});
  return guarded(
      self_, this,  //
      [this](Tick) { run(); }, [this](AcceptPart) { accept(); });
}

void PartRunner::run() {
  PartRan ran{assignment_.attempt, {}, {}};
  try {
    part_.run(assignment_.stage->body);
  } catch (const OperatorFailure& failure) {
    ran.status = failure.status();
    ran.bad_record = part_.bad_record();
  }
  const bool failed = !ran.status.ok();
  caf::anon_send(coordinator_, std::move(ran));
  if (failed) self_->quit();
}

void PartRunner::refuse(Tick, Status why) {
  caf::anon_send(coordinator_, PartRan{assignment_.attempt, std::move(why), {}});
  self_->quit();
}

void PartRunner::accept() {
  part_.commit();
  caf::anon_send(coordinator_, PartMade{assignment_.attempt, {}, part_.take_outcome()});
  self_->quit();
}

void PartRunner::refuse(AcceptPart, Status why) {
  caf::anon_send(coordinator_, PartMade{assignment_.attempt, std::move(why), {}});
  self_->quit();
}

caf::behavior part_actor(PartActor* self, PartAssignment assignment, caf::actor coordinator) {
  self->state = std::make_unique<PartRunner>(self, std::move(assignment), std::move(coordinator));
  return self->state->behavior();
}

}  // namespace actorflow
