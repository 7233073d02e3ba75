#include "actors/named/switchboard.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace actorflow {
namespace {

// The answer to a message whose name no actor has.
ActorMessage answer_to(const ActorMessage& message, Status why) {
  return {.to = message.from,
          .from = message.to,
          .type = not_found_type,
          .request = message.request,
          .content = {},
          .payload = {},
          .status = std::move(why)};
}

// Whether the message is a request. Answers are not answered: between two unknown names that would never
// end.
bool wants_answer(const ActorMessage& message) {
  return message.request != 0 && message.type != not_found_type;
}

}  // namespace

// Ends the actors: they use the task's context, which ends with the switchboard.
Switchboard::~Switchboard() {
  for (const auto& [name, actor] : actors_) caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

caf::behavior Switchboard::behavior() {
  self_->introduce("switchboard", &task_->self.name);
  self_->set_down_handler([this](const caf::down_msg& down) { on_down(down.source); });
  return guarded(
      self_, this,  //
      [this](const RegisterActor& message) { add(message); },
      [this](const UnregisterActor& message) { actors_.erase(message.name); },
      [this](const Sender& from, ActorMessage& message) { pass_on(from, message); },
      [this](const PeerLost& message) {
        for (const auto& [name, actor] : actors_) caf::anon_send(actor, message);
      });
}

void Switchboard::add(const RegisterActor& message) {
  const auto [entry, added] = actors_.try_emplace(message.name, message.actor);
  if (!added)
    throw Error(Code::already_exists,
                fmt::format("{} has an actor '{}' already", task_->self.name.to_string(), message.name));
  self_->monitor(message.actor);
  if (message.reply) message.reply({});
}

void Switchboard::pass_on(const Sender& from, ActorMessage& message) {
  const auto found = actors_.find(message.to);
  if (found != actors_.end()) return caf::anon_send(found->second, from, std::move(message));
  const std::string what = fmt::format("{} has no actor '{}'", task_->self.name.to_string(), message.to);
  if (wants_answer(message)) return tell(*task_, from.task, answer_to(message, {Code::not_found, what}));
  spdlog::debug("{}, to which '{}' of {} sent {}", what, message.from,
                task_->name_of(from.task).to_string(), message.type);
}

void Switchboard::on_down(const caf::actor_addr& ended) {
  std::erase_if(actors_, [&ended](const auto& entry) { return entry.second.address() == ended; });
}

// An actor that nobody can reach, and of which nobody is told, would let others wait.
void Switchboard::refuse(const RegisterActor& message, Status why) {
  message.reply ? message.reply(std::move(why)) : self_->end_task("RegisterActor");
}

// The message comes without its tensors, as if its link could not carry them.
void Switchboard::refuse(const Sender& from, ActorMessage& message, Status why) {
  message.content = message.payload = {};
  message.status = std::move(why);
  pass_on(from, message);
}

caf::behavior switchboard_actor(SwitchboardActor* self, TaskRef task) {
  self->state = std::make_unique<Switchboard>(self, std::move(task));
  return self->state->behavior();
}

}  // namespace actorflow
