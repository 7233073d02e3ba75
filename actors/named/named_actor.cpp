#include "actors/named/named_actor.h"

namespace actorflow {

detail::AnswerSlot::~AnswerSlot() {
  try {
    fail({Code::aborted, "the actor has dropped the message without an answer"});
  } catch (...) {  // There is no memory for the error: the asker waits until its timeout.
  }
}

void detail::AnswerSlot::succeed(const std::string& type, Tensor payload) {
  RawAnswer answer;
  answer.type = type;
  answer.payload = std::move(payload);
  if (const auto send = std::exchange(send_, {})) send(std::move(answer));
}

void detail::AnswerSlot::fail(Status why) {
  RawAnswer answer;
  answer.status = std::move(why);
  if (const auto send = std::exchange(send_, {})) send(std::move(answer));
}

NamedActor::~NamedActor() = default;

void NamedActor::add_handler(const std::string& type,
                             std::function<void(const Tensor&, const detail::AnswerSlotRef&)> run) {
  const auto [known, added] = handlers_.try_emplace(type.substr(0, type.find('{')), Handler{type, run});
  if (!added)
    throw Error(Code::already_exists,
                "an actor has two handlers for one name: " + known->second.type + " and " + type);
}

detail::ActorHost& NamedActor::host() const {
  if (!host_)
    throw Error(Code::failed_precondition,
                "an actor that is being made has no task yet: move this into a handler");
  return *host_;
}

}  // namespace actorflow
