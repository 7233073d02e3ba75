// The switchboard of a task: the actor that knows the task's other actors by name.
#pragma once

#include <caf/stateful_actor.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "actors/core/messages.h"
#include "actors/core/task_context.h"
#include "actors/runtime/thread_affinity.h"

namespace actorflow {

// Any actor of the task -> switchboard: `actor` takes the messages to `name` from now on, until it ends
// or is unregistered. The reply is called by the switchboard: already_exists if another actor has the
// name. Without a reply, a failure ends the task. The actor ends with the task at the latest.
struct RegisterActor {
  std::string name;
  caf::actor actor;
  std::function<void(Status)> reply;
};
struct UnregisterActor {
  std::string name;
};

// The type of the answer to a message for a name that nobody has. Its status is not_found.
inline constexpr const char* not_found_type = "actorflow.not_found";

// Passes each ActorMessage on, with its Sender, to the actor of its name; messages of one sender keep
// their order as far as their link does (schema/link.h). A request to a name that nobody has is answered
// with an ActorMessage of `not_found_type`, anything else is dropped. All registered actors hear of
// every PeerLost, so each needs a handler for (Sender, ActorMessage) and one for PeerLost.
class Switchboard {
 public:
  Switchboard(GuardedActor* self, TaskRef task) : self_(self), task_(std::move(task)) {}
  Switchboard(const Switchboard&) = delete;
  Switchboard& operator=(const Switchboard&) = delete;
  ~Switchboard();

  caf::behavior behavior();
  void refuse(const RegisterActor& message, Status why);
  void refuse(const Sender& from, ActorMessage& message, Status why);

 private:
  void add(const RegisterActor& message);
  void pass_on(const Sender& from, ActorMessage& message);
  void on_down(const caf::actor_addr& ended);

  GuardedActor* self_;
  TaskRef task_;
  std::map<std::string, caf::actor, std::less<>> actors_;
};

using SwitchboardActor = caf::stateful_actor<std::unique_ptr<Switchboard>, LightActor>;
caf::behavior switchboard_actor(SwitchboardActor* self, TaskRef task);

}  // namespace actorflow

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::RegisterActor)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(actorflow::UnregisterActor)
