// The actor that runs one attempt of a part, on whichever thread is free.
#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "actors/core/messages.h"
#include "actors/jobs/engine/part.h"
#include "actors/runtime/thread_affinity.h"
#include "dataflow/jobs/stage_tracker.h"
#include "dataflow/values/error.h"

namespace actorflow {

struct PartAssignment {
  PartAttempt attempt;
  std::shared_ptr<const StageSpec> stage;
  std::shared_ptr<StageProgress> progress;
  JobTools tools;
  std::set<std::uint64_t> skips;
};

// part -> coordinator: the function has returned, or thrown. Its files have not taken their places yet.
struct PartRan {
  PartAttempt attempt;
  Status status;
  std::optional<std::uint64_t> bad_record;  // of its source, if a user's function has thrown for one
};
// coordinator -> part: this attempt counts.
struct AcceptPart {};
// part -> coordinator: its files are in their places; the last message.
struct PartMade {
  PartAttempt attempt;
  Status status;
  PartOutcome outcome;
};

class PartRunner {
 public:
  PartRunner(GuardedActor* self, PartAssignment assignment, caf::actor coordinator);

  caf::behavior behavior();
  void refuse(Tick, Status why);
  void refuse(AcceptPart, Status why);

 private:
  void run();
  void accept();

  GuardedActor* self_;
  const PartAssignment assignment_;
  const caf::actor coordinator_;
  Part part_;
};

using PartActor = caf::stateful_actor<std::unique_ptr<PartRunner>, PieceActor>;
caf::behavior part_actor(PartActor* self, PartAssignment assignment, caf::actor coordinator);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::PartRan)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AcceptPart)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::PartMade)
