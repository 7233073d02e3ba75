// The actor that runs a dataset's stages.
#pragma once

#include <caf/stateful_actor.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "actors/core/messages.h"
#include "actors/input/dataset.h"
#include "actors/runtime/thread_affinity.h"
#include "dataflow/cluster/device_name.h"

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
// costs the memory of that many. The end stays until SkipTo. An error is told once, to whoever asks for
// that element; whoever asks next gets the same element, for which the stages begin anew.
class InputActor {
 public:
  // `task`: for error messages; none for an iterator outside of tasks.
  InputActor(PieceActor* self, Dataset dataset, InputContext context, std::optional<TaskName> task)
      : self_(self), dataset_(std::move(dataset)), context_(context), task_(std::move(task)) {}

  caf::behavior behavior();
  void refuse(const NextElement& request, Status why) { request.reply(std::move(why), {}); }
  void refuse(const SkipTo& request, Status why) { request.reply(std::move(why)); }
  void refuse(Tick, Status why);

 private:
  // Moves the next element to `element`: a prefetched one, or else computes it now.
  Status next(Tuple& element);
  Status compute(Tuple& element);
  Status skip_to(std::int64_t position);
  // The stages, which are at position_. Throws what they throw.
  Stage& stage();
  void answer(const StateCall& call);
  void read_ahead();
  void schedule_read_ahead();

  PieceActor* self_;
  Dataset dataset_;
  InputContext context_;
  const std::optional<TaskName> task_;
  StageRef stage_;
  bool entered_ = false;  // the stages are at position_; not so after an error
  bool ended_ = false;    // there is nothing after `ahead_`
  std::deque<Tuple> ahead_;
  std::int64_t position_ = 0;  // of the element after `ahead_`
  Status failed_ahead_;        // of that element; still to be told
  bool scheduled_ = false;     // a Tick is on its way
};

using InputActorBase = caf::stateful_actor<std::unique_ptr<InputActor>, PieceActor>;
caf::behavior input_actor(InputActorBase* self, Dataset dataset, InputContext context,
                          std::optional<TaskName> task);

// Starts an input of that dataset, which reads from the runtime's disk. `task`: which messages of errors
// name. For threads that are no actors.
caf::actor spawn_input(const Dataset& dataset, Runtime& runtime,
                       const std::optional<TaskName>& task = std::nullopt);

// Makes the input go on with that element. For threads that are no actors. Throws what reading throws,
// and invalid_argument for a negative position.
void skip_to(const caf::actor& input, std::int64_t position, Runtime& runtime);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::NextElement)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::SkipTo)
