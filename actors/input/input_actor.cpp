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

// What `action` returns, or the error that it throws.
template <class Action>
Status status_of(Action action) {
  try {
    return action();
  } catch (...) {
    return current_exception_status();
  }
}

Status end_of_input() { return {Code::out_of_range, "the input has no more elements"}; }

}  // namespace

caf::behavior InputActor::behavior() {
  self_->introduce("input", nullptr);
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
  if (ahead_.empty()) return compute(element);
  element = std::move(ahead_.front());
  ahead_.pop_front();
  return {};
}

Status InputActor::compute(Tuple& element) {
  if (over_.ok())
    over_ = status_of([&] { return stage().next(element) ? Status() : end_of_input(); });
  return over_;
}

Status InputActor::skip_to(std::int64_t position) {
  ahead_.clear();
  over_ = status_of([&] {
    stage().restart(0);
    return stage().skip(position) == position ? Status() : end_of_input();
  });
  return over_.code == Code::out_of_range ? Status() : over_;
}

Stage& InputActor::stage() {
  if (!stage_) {
    StageRef opened = dataset_.open(context_);
    opened->restart(0);
    stage_ = std::move(opened);
  }
  return *stage_;
}

// One element for each message, so that requests are answered in between.
void InputActor::read_ahead() {
  scheduled_ = false;
  Tuple element;
  if (std::ssize(ahead_) < dataset_.prefetched() && compute(element).ok())
    ahead_.push_back(std::move(element));
  schedule_read_ahead();
}

void InputActor::schedule_read_ahead() {
  if (scheduled_ || !over_.ok() || std::ssize(ahead_) >= dataset_.prefetched()) return;
  try {
    caf::anon_send(self_, Tick{});
    scheduled_ = true;
  } catch (const std::bad_alloc&) {  // Nobody waits for it.
  }
}

caf::behavior input_actor(InputActorBase* self, Dataset dataset, InputContext context) {
  self->state = std::make_unique<InputActor>(self, std::move(dataset), context);
  return self->state->behavior();
}

caf::actor spawn_input(const Dataset& dataset, Runtime& runtime) {
  const SystemVisit visit;
  return runtime.system().spawn(input_actor, dataset,
                                InputContext{&runtime.storage(), &runtime.team()});
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
