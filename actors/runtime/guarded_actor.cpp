#include "actors/runtime/guarded_actor.h"

#include <fmt/format.h>

#include "actors/runtime/scheduler.h"
#include "dataflow/cluster/device_name.h"

namespace actorflow {

GuardedActor::GuardedActor(caf::actor_config& config) : caf::event_based_actor(config) {
  set_exception_handler([this](std::exception_ptr& error) -> caf::error {
    try {
      std::rethrow_exception(error);
    } catch (...) {
      end_task("what it had to do");
    }
    return caf::exit_reason::unhandled_exception;
  });
  set_default_handler([this](caf::scheduled_actor*, caf::message_view&) -> caf::result<caf::message> {
    throw Error(Code::internal, "it got a message that it does not know");
  });
}

void GuardedActor::introduce(std::string_view role, const TaskName* task) {
  role_ = role;
  task_ = task;
}

void GuardedActor::end_task(std::string_view message) {
  TaskScheduler::of(home_system()).end_task_by_exception([&] {
    return fmt::format("{} could not handle {}", who(), message);
  });
}

Status GuardedActor::failure_of(std::string_view message) const {
  Status status = current_exception_status();
  try {
    throw;
  } catch (const Error&) {
  } catch (...) {
    status.message = fmt::format("{} could not handle {}: {}", who(), message, status.message);
  }
  return status;
}

std::string GuardedActor::who() const {
  return task_ ? fmt::format("the {} of {}", role_, task_->to_string())
               : fmt::format("the {}", role_);
}

}  // namespace actorflow
