// The users' actors of a server's task, for the server.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/core/task_context.h"
#include "actors/named/actor_ref.h"
#include "actors/named/named_actor_shell.h"
#include "actors/named/options.h"

namespace actorflow {

class CallerDoor;
class Runtime;

// See Server::spawn and Server::find. Thread-safe.
class NamedActors {
 public:
  void spawn(const TaskRef& task, Runtime& runtime, const std::string& name, NamedActorFactory make,
             const SpawnOptions& options);
  ActorRef find(const TaskRef& task, const std::shared_ptr<Runtime>& runtime, const std::string& where,
                const std::string& name, const ActorRefOptions& options);
  // The actors that the server ends with itself: also those that no switchboard knows yet, which would
  // live on.
  std::vector<caf::actor> all() const;

 private:
  std::shared_ptr<CallerDoor> door(const TaskRef& task, Runtime& runtime);

  mutable std::mutex mutex_;
  std::vector<caf::actor> actors_;    // these guarded by mutex_
  std::shared_ptr<CallerDoor> door_;  // made with the first ActorRef
};

}  // namespace actorflow
