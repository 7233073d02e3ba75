// The actor that gives slices of a task's records to the tasks that ask for them.
#pragma once

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>
#include <memory>

#include "actors/core/messages.h"
#include "actors/jobs/messages/job_mail.h"
#include "actors/jobs/slices/kept_records.h"
#include "actors/runtime/thread_affinity.h"
#include "schema/formats/block_compression.h"

namespace actorflow {

class SliceServer {
 public:
  SliceServer(GuardedActor* self, JobMailRef mail, std::shared_ptr<const KeptStages> kept)
      : self_(self), mail_(std::move(mail)), kept_(std::move(kept)) {}

  caf::behavior behavior();

 private:
  void on_letter(const Sender& from, const ActorMessage& letter);
  void answer(int task, const FetchSlices& request);
  Tensor collect(const FetchSlices& request, SlicesAre& answer) const;
  Tensor packed(Tensor slices, SlicesAre& answer);

  GuardedActor* self_;
  const JobMailRef mail_;
  const std::shared_ptr<const KeptStages> kept_;
  BlocksWhereItPays shrinking_;
};

// It may read from disk: on any thread that is free.
using SliceServerActor = caf::stateful_actor<std::unique_ptr<SliceServer>, PieceActor>;
caf::behavior slice_server_actor(SliceServerActor* self, JobMailRef mail,
                                 std::shared_ptr<const KeptStages> kept);

}  // namespace actorflow
