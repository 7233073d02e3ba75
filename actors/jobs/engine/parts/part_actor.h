// The actor that runs one attempt of a part, on whichever thread is free.
#pragma once

#include <atomic>
#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/stateful_actor.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/jobs/engine/parts/part.h"
#include "actors/jobs/messages/job_messages.h"
#include "actors/runtime/clock.h"
#include "actors/runtime/thread_affinity.h"
#include "dataflow/values/error.h"
#include "kernels/core/computing.h"

namespace actorflow {

struct PartAssignment {
  AttemptId id;
  std::shared_ptr<const StageSpec> stage;
  std::shared_ptr<StageProgress> progress;
  JobTools tools;
  Clock* clock = nullptr;
  std::set<std::uint64_t> skips;
  std::shared_ptr<const std::atomic<bool>> cancelled;
  std::string chunk_file;           // as Part has it
  std::optional<PartOutcome> made;  // to be taken over instead of made
  TaskRef task;                     // for error messages; null: of a job that has this process for itself
};

// part -> agent: the function has returned, or thrown. Its files have not taken their places yet.
struct AttemptRan {
  AttemptId id;
  Status status;
  std::optional<std::uint64_t> bad_record;  // of its source, if a user's function has thrown for one
  std::optional<LostSlices> lost;           // that it could not read
  std::string bad_place = {};               // of the bad record, in its file
  bool of_disk = false;                     // the status is a disk's
};
// agent -> part: this attempt counts.
struct CommitAttempt {};
// part -> agent: its files are in their places; the last message.
struct AttemptMade {
  AttemptId id;
  Status status;
  PartProduct product;
  bool of_disk = false;
};

class PartRunner {
 public:
  PartRunner(GuardedActor* self, PartAssignment assignment, caf::actor agent);

  caf::behavior behavior();
  void refuse(Tick, Status why);
  void refuse(CommitAttempt, Status why);

 private:
  void run();
  void commit();
  template <class Failed>
  void give_up(Failed why);

  GuardedActor* self_;
  const PartAssignment assignment_;
  const WorkName work_;
  const caf::actor agent_;
  std::optional<Part> part_;  // as long as it may still count
};

using PartActor = caf::stateful_actor<std::unique_ptr<PartRunner>, PieceActor>;
caf::behavior part_actor(PartActor* self, PartAssignment assignment, caf::actor agent);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AttemptRan)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::CommitAttempt)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::AttemptMade)
