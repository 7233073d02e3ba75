#include "actors/named/named_actors.h"

#include <fmt/format.h>

#include <caf/actor_system.hpp>
#include <utility>

#include "actors/core/ask.h"
#include "actors/named/actor_route.h"
#include "actors/named/switchboard.h"
#include "actors/runtime/thread_unit.h"

namespace actorflow {
namespace {

constexpr std::string_view reserved_prefix = "actorflow.";

// Registers the actor and waits until the switchboard has done so.
Status add_to_switchboard(const TaskContext& task, Runtime& runtime, const std::string& name,
                          const caf::actor& actor) {
  const auto answer = ask<Status>(runtime, [&](std::function<void(Status)> reply) {
    caf::anon_send(task.switchboard, RegisterActor{name, actor, std::move(reply)});
  });
  return answer.value_or(Status{Code::cancelled, task.self.name.to_string() + " is ending"});
}

}  // namespace

void NamedActors::spawn(const TaskRef& task, Runtime& runtime, const std::string& name,
                        NamedActorFactory make, const SpawnOptions& options) {
  if (name.empty() || name.starts_with(reserved_prefix))
    throw invalid_argument(fmt::format("'{}' is no name for an actor: it is empty, or begins with '{}'",
                                       name, reserved_prefix));
  auto first = std::make_shared<std::unique_ptr<NamedActor>>(make());
  if (!*first) throw invalid_argument("the function that makes the actor '" + name + "' returns none");
  const SystemVisit visit;
  const auto actor = runtime.system().spawn(
      named_actor_shell, task, NamedActorShell::Plan{name, std::move(make), options}, std::move(first));
  const Status status = add_to_switchboard(*task, runtime, name, actor);
  if (!status.ok()) {
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    throw Error(status);
  }
  const std::scoped_lock lock(mutex_);
  actors_.push_back(actor);
}

ActorRef NamedActors::find(const TaskRef& task, const std::shared_ptr<Runtime>& runtime,
                           const std::string& where, const std::string& name,
                           const ActorRefOptions& options) {
  const TaskId id = task->id_of(TaskName::parse(where));
  auto route = std::make_shared<detail::ActorRoute>();
  route->to = {id, name};
  route->door = door(task, *runtime);
  route->window = std::make_shared<SendWindow>(
      fmt::format("'{}' of {}", name, task->name_of(id).to_string()), options);
  route->door->add(route->window);
  route->runtime = runtime;
  return ActorRef(std::move(route));
}

std::vector<caf::actor> NamedActors::all() const {
  const std::scoped_lock lock(mutex_);
  return actors_;
}

// The switchboard learns of the caller before the caller sends anything.
std::shared_ptr<CallerDoor> NamedActors::door(const TaskRef& task, Runtime& runtime) {
  const std::scoped_lock lock(mutex_);
  if (door_) return door_;
  const SystemVisit visit;
  auto door = std::make_shared<CallerDoor>();
  const auto caller = runtime.system().spawn(client_caller_actor, task, door);
  actors_.push_back(caller);
  door->open(caller);
  const auto known = [door, caller](const Status& status) {
    if (status.ok()) return;
    door->close(status);  // no answer would reach the caller
    caf::anon_send_exit(caller, caf::exit_reason::user_shutdown);
  };
  caf::anon_send(task->switchboard, RegisterActor{client_caller_name, caller, known});
  return door_ = std::move(door);
}

}  // namespace actorflow
