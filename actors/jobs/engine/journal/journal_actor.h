// The actor that writes a job's journal, so that no other actor waits for the disk. Entries that come
// while it writes are written together.
#pragma once

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/stateful_actor.hpp>
#include <functional>
#include <memory>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/jobs/engine/journal/job_journal.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// The answer comes when the entry is written, or cannot be written.
struct WriteOutput {
  JournaledOutput output;
  std::function<void(bool)> reply;
};
// The last message. If the job has ended well the journal is removed; otherwise the job may go on later.
// The answer says whether there is anything to go on with.
struct CloseJournal {
  bool ended_well = false;
  std::function<void(bool)> reply;
};

class JournalWriter {
 public:
  // `task`: for error messages; null: of a job that has this process for itself.
  JournalWriter(GuardedActor* self, std::shared_ptr<JobJournal> journal, TaskRef task)
      : self_(self), journal_(std::move(journal)), task_(std::move(task)) {}

  caf::behavior behavior();

 private:
  void on(const CloseJournal& order);
  void write_soon();
  // Writes what has come. If the disk refuses, it is tried again later; until then parts may have to run
  // again after a loss.
  void write();

  GuardedActor* self_;
  const std::shared_ptr<JobJournal> journal_;
  const TaskRef task_;
  bool due_ = false, refused_ = false, closed_ = false;
};

using JournalActor = caf::stateful_actor<std::unique_ptr<JournalWriter>, PieceActor>;
caf::behavior journal_actor(JournalActor* self, std::shared_ptr<JobJournal> journal, TaskRef task);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JournaledStage)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::JournaledPart)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::WriteOutput)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::CloseJournal)
