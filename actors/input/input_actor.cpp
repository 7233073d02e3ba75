#include "actors/input/input_actor.h"

#include <fmt/format.h>

#include <caf/actor_system.hpp>
#include <utility>

#include "actors/core/ask.h"
#include "actors/core/task_context.h"
#include "actors/runtime/runtime.h"
#include "actors/runtime/thread_unit.h"
#include "dataflow/ops/queue_ops.h"

namespace actorflow {
namespace {

// What `action` returns, or the error that it throws. Nothing but the end of the input is out_of_range,
// which whoever reads takes for that.
template <class Action>
Status status_of(Action action) {
  try {
    return action();
  } catch (...) {
    Status status = current_exception_status();
    if (status.code == Code::out_of_range) status.code = Code::internal;
    return status;
  }
}

Status end_of_input() { return {Code::out_of_range, "the input has no more elements"}; }

}  // namespace

caf::behavior InputActor::behavior() {
  self_->introduce("input", task_ ? &*task_ : nullptr);
  return guarded(
      self_, this,  //
      [this](StateCall& call) { answer(call); },
      [this](NextElement& request) {
        Tuple element;
        Status status = next(element);
        request.reply(std::move(status), std::move(element));
        schedule_read_ahead();
      },
      [this](SkipTo& request) {
        request.reply(skip_to(request.position));
        schedule_read_ahead();
      },
      [this](Tick) { read_ahead(); });
}

void InputActor::answer(const StateCall& call) {
  Tuple element;
  Status status = next(element);
  const Node& node = *call.node;
  if (status.ok() && !fits(element, node.outputs))
    status = {Code::invalid_argument, fmt::format("expected an element of {}, but the input gave {}",
                                                  to_string(node.outputs), describe(element))};
  if (status.ok())
    complete(call.reply_to, std::move(element));
  else
    fail(call.reply_to,
         {status.code, fmt::format("node '{}' ({}), input '{}': {}", node.name, node.op->name,
                                   attr<std::string>(node, "iterator"), status.message)});
  schedule_read_ahead();
}

Status InputActor::next(Tuple& element) {
  if (!ahead_.empty()) {
    element = std::move(ahead_.front());
    ahead_.pop_front();
    return {};
  }
  return failed_ahead_.ok() ? compute(element) : std::exchange(failed_ahead_, {});
}

Status InputActor::compute(Tuple& element) {
  if (ended_) return end_of_input();
  return status_of([&] {
    Stage& stages = stage();
    entered_ = false;  // where this throws, they may be anywhere
    ended_ = !stages.next(element);
    entered_ = true;
    if (ended_) return end_of_input();
    ++position_;
    return Status();
  });
}

Status InputActor::skip_to(std::int64_t position) {
  ahead_.clear();
  failed_ahead_ = {};
  position_ = position;
  entered_ = ended_ = false;
  return status_of([&] {
    stage();
    return Status();
  });
}

Stage& InputActor::stage() {
  if (!stage_) stage_ = dataset_.open(context_);
  if (!entered_) {
    stage_->restart(0);
    if (position_ > 0) ended_ = stage_->skip(position_) < position_;
    entered_ = true;
  }
  return *stage_;
}

// One element for each message, so that requests are answered in between.
void InputActor::read_ahead() {
  scheduled_ = false;
  if (!ended_ && std::ssize(ahead_) < dataset_.prefetched()) {
    Tuple element;
    Status status = compute(element);
    if (status.ok())
      ahead_.push_back(std::move(element));
    else if (!ended_)
      failed_ahead_ = std::move(status);
  }
  schedule_read_ahead();
}

// It does nothing but read ahead; the element after that is still to be computed.
void InputActor::refuse(Tick, Status why) {
  scheduled_ = false;
  if (!ended_) failed_ahead_ = std::move(why);
}

void InputActor::schedule_read_ahead() {
  if (scheduled_ || ended_ || !failed_ahead_.ok() || std::ssize(ahead_) >= dataset_.prefetched()) return;
  try {
    caf::anon_send(self_, Tick{});
    scheduled_ = true;
  } catch (const std::bad_alloc&) {  // Nobody waits for it.
  }
}

caf::behavior input_actor(InputActorBase* self, Dataset dataset, InputContext context,
                          std::optional<TaskName> task) {
  self->state = std::make_unique<InputActor>(self, std::move(dataset), context, std::move(task));
  return self->state->behavior();
}

caf::actor spawn_input(const Dataset& dataset, Runtime& runtime, const std::optional<TaskName>& task) {
  const SystemVisit visit;
  return runtime.system().spawn(input_actor, dataset, InputContext{&runtime.storage(), &runtime.team()},
                                task);
}

void skip_to(const caf::actor& input, std::int64_t position, Runtime& runtime) {
  if (position < 0)
    throw invalid_argument(fmt::format("skip_to: expected a position of 0 or more, got {}", position));
  const auto answer = ask<Status>(runtime, [&](std::function<void(Status)> reply) {
    caf::anon_send(input, SkipTo{position, std::move(reply)});
  });
  if (!answer) throw Error(Code::cancelled, "the input has ended");
  throw_if_error(*answer);
}

}  // namespace actorflow
