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

// client -> input: the next element, or why there is none: out_of_range at the end.
struct NextElement {
  std::function<void(Status, Tuple)> reply;
};
// client -> input: go on with element number `position` of the pipeline.
struct SkipTo {
  std::int64_t position = 0;
  std::function<void(Status)> reply;
};

// All stages run here, fused: an element goes from one to the next by a call. The actor computes what it is
// asked for and, when nobody asks, what it may have ready beforehand (Dataset::prefetch): never more, so a
// slow consumer costs that many elements. The end and errors stay until SkipTo.
class InputActor {
 public:
  InputActor(PieceActor* self, Dataset dataset, InputContext context)
      : self_(self), dataset_(std::move(dataset)), context_(context) {}

  caf::behavior behavior();
  void refuse(const NextElement& request, Status why) { request.reply(std::move(why), {}); }
  void refuse(const SkipTo& request, Status why) { request.reply(std::move(why)); }
  void refuse(Tick, Status why) { over_ = std::move(why); }

 private:
  // The next element into `element`, from those that are ready or else computed now.
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
  Status over_;            // why nothing comes after `ahead_`
  bool scheduled_ = false;  // a Tick is on its way
};

using InputActorBase = caf::stateful_actor<std::unique_ptr<InputActor>, PieceActor>;
caf::behavior input_actor(InputActorBase* self, Dataset dataset, InputContext context);

// For a thread that is no actor: an input of that dataset, which reads from the runtime's disk.
caf::actor spawn_input(const Dataset& dataset, Runtime& runtime);

// For a thread that is no actor: has the input go on with that element. Throws what reading throws,
// invalid_argument for a negative position.
void skip_to(const caf::actor& input, std::int64_t position, Runtime& runtime);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::NextElement)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::SkipTo)
