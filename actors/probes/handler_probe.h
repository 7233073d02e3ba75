// Lets a test look at, and into, every handler of every actor.
#pragma once

#include <atomic>
#include <string_view>

namespace actorflow {

// A handler, by the role of its actor and the type of its message: "shard", "StateCall".
struct HandlerName {
  std::string_view actor, message;

  auto operator<=>(const HandlerName&) const = default;
};

// Called by all actors, on their threads. What before() and after() throw, the handler has thrown.
class HandlerProbe {
 public:
  virtual ~HandlerProbe() = default;
  // An actor that has this handler was made.
  virtual void made(const HandlerName& handler) = 0;
  virtual void before(const HandlerName& handler) = 0;
  virtual void after(const HandlerName& handler) = 0;
};

// Only tests set it, while no actor runs. Null: nobody looks.
inline std::atomic<HandlerProbe*> handler_probe{nullptr};

}  // namespace actorflow
