// The base of every actor, which turns exceptions into answers or ends the task.
//
// An actor's behavior is made by guarded(). An exception in a handler is a failure of the step or
// request to which the message belongs: a function `refuse` of the actor's state, or beside the message,
// tells its owner. A message without `refuse` concerns the actor's own state, which can no longer be
// trusted: the task ends at once with the reason, so that others notice. So does a task whose actor
// throws elsewhere (while it is made, or in `refuse`) or gets an unknown message.
#pragma once

#include <caf/event_based_actor.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "actors/probes/handler_probe.h"
#include "dataflow/values/exception_status.h"

namespace actorflow {

struct TaskName;

class GuardedActor : public caf::event_based_actor {
 public:
  explicit GuardedActor(caf::actor_config& config);

  // Sets the actor's role and task, for error messages. `task` may be null; otherwise it must outlive
  // the actor.
  void introduce(std::string_view role, const TaskName* task);
  std::string_view role() const { return role_; }
  // Ends the actor's task. REQUIRES: called in a catch block.
  void end_task(std::string_view message);
  // The status of the exception. Names actor, task and message if it is no Error, since others do not
  // say where they were thrown. REQUIRES: called in a catch block.
  Status failure_of(std::string_view message) const;

 private:
  std::string who() const;

  std::string_view role_ = "actor";
  const TaskName* task_ = nullptr;
};

namespace guarding {

// The name of a message type: "StateCall" for actorflow::StateCall.
template <class M>
constexpr std::string_view message_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("M = ") + 4);
  if (text.starts_with("std::variant<")) return "Message";  // of schema/message.h, whichever it is
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

template <class First, class... Rest>
struct LastOf : LastOf<Rest...> {};
template <class Only>
struct LastOf<Only> {
  using type = std::remove_cvref_t<Only>;
};
// The message among a handler's arguments: alone, or after its Sender.
template <class... Args>
constexpr std::string_view name_of_last = message_name<typename LastOf<Args...>::type>();

template <class Owner, class... Args>
concept OwnerRefuses = requires(Owner& owner, Args&... args, Status why) {
  owner.refuse(args..., why);
};
template <class... Args>
concept MessageRefuses = requires(Args&... args, Status why) {
  refuse(args..., why);
};

template <class Owner, class Handler, class... Args>
auto guard(GuardedActor* self, Owner* owner, Handler handler, void (Handler::*)(Args...) const) {
  static constexpr std::string_view message = name_of_last<Args...>;
  if (auto* probe = handler_probe.load(std::memory_order_relaxed)) probe->made({self->role(), message});
  return [self, owner, handler](Args... args) {
    try {
      auto* probe = handler_probe.load(std::memory_order_relaxed);
      if (probe) probe->before({self->role(), message});
      handler(args...);
      if (probe) probe->after({self->role(), message});
    } catch (...) {
      if constexpr (OwnerRefuses<Owner, Args...>)
        owner->refuse(args..., self->failure_of(message));
      else if constexpr (MessageRefuses<Args...>)
        refuse(args..., self->failure_of(message));
      else
        self->end_task(message);
    }
  };
}

}  // namespace guarding

// A behavior of these handlers, lambdas of a message or of (Sender, message). An exception of a handler
// is passed to owner.refuse(sender and message as the handler takes them, status); without such a
// function to refuse() beside the message; without that, the task ends.
template <class Owner, class... Handlers>
caf::behavior guarded(GuardedActor* self, Owner* owner, Handlers... handlers) {
  return {guarding::guard(self, owner, std::move(handlers), &Handlers::operator())...};
}

}  // namespace actorflow
