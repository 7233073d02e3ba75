// The actor that runs a dataset's stages.
#pragma once

#include <caf/stateful_actor.hpp>
#include <deque>
#include <functional>
#include <memory>

#include "actors/core/messages.h"
#include "actors/input/dataset.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

class Runtime;

// client -> input: asks for the next element; the answer may be an error, out_of_range at the end.
struct NextElement {
  std::function<void(Status, Tuple)> reply;
};
// client -> input: go on with element number `position` of the pipeline.
struct SkipTo {
  std::int64_t position = 0;
  std::function<void(Status)> reply;
};

// Runs all stages in one actor: an element moves from one to the next by a call. It computes requested
// elements and, when there is no request, up to Dataset::prefetch elements ahead, so a slow consumer
// costs the memory of that many. The end and errors stay until SkipTo.
class InputActor {
 public:
  InputActor(PieceActor* self, Dataset dataset, InputContext context)
      : self_(self), dataset_(std::move(dataset)), context_(context) {}

  caf::behavior behavior();
  void refuse(const NextElement& request, Status why) { request.reply(std::move(why), {}); }
  void refuse(const SkipTo& request, Status why) { request.reply(std::move(why)); }
  void refuse(Tick, Status why) { over_ = std::move(why); }

 private:
  // Moves the next element to `element`: a prefetched one, or else computes it now.
  Status next(Tuple& element);
  Status compute(Tuple& element);
  Status skip_to(std::int64_t position);
  Stage& stage();
  void answer(const StateCall& call);
  void read_ahead();
  void schedule_read_ahead();

  PieceActor* self_;
  Dataset dataset_;
  InputContext context_;
  StageRef stage_;
  std::deque<Tuple> ahead_;
  Status over_;             // why there is nothing after `ahead_`
  bool scheduled_ = false;  // a Tick is on its way
};

using InputActorBase = caf::stateful_actor<std::unique_ptr<InputActor>, PieceActor>;
caf::behavior input_actor(InputActorBase* self, Dataset dataset, InputContext context);

// Starts an input of that dataset, which reads from the runtime's disk. For threads that are no actors.
caf::actor spawn_input(const Dataset& dataset, Runtime& runtime);

// Makes the input go on with that element. For threads that are no actors. Throws what reading throws,
// and invalid_argument for a negative position.
void skip_to(const caf::actor& input, std::int64_t position, Runtime& runtime);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::NextElement)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::SkipTo)
