// Access of tests to every handler of every actor.
#pragma once

#include <atomic>
#include <string_view>

namespace actorflow {

// A handler, by the role of its actor and the type of its message: "shard", "StateCall".
struct HandlerName {
  std::string_view actor, message;

  auto operator<=>(const HandlerName&) const = default;
};

// Called by all actors, on their threads. An exception of before() or after() counts as one of the
// handler.
class HandlerProbe {
 public:
  virtual ~HandlerProbe() = default;
  // Called when an actor with this handler has been made.
  virtual void made(const HandlerName& handler) = 0;
  virtual void before(const HandlerName& handler) = 0;
  virtual void after(const HandlerName& handler) = 0;
};

// The probe, or null. Only tests set it, while no actor runs.
inline std::atomic<HandlerProbe*> handler_probe{nullptr};

}  // namespace actorflow
